"""torch.export refuses the model at this line.

`breakscope run --fake --export` also tries `torch.export.export` on the target. torch.compile may end
its graph and go on; an exported program is one graph, so what ends a graph is mostly what export
refuses, and some more: a size that depends on values and is compared, an output of a type that export
does not know, an attribute that the model sets while it runs.

What to do, by the reason that the finding quotes:

- *Could not guard on data-dependent expression*: the program decides by a value. Say what always holds
  with `torch._check(n > 0)`, choose with `torch.where` or `torch.cond`, or keep the number a tensor.
- *no fake kernel*, *numpy*: use tensor operations, or a custom op with `torch.library.register_fake`.
- *unsupported output*: register the class with `torch.export.register_dataclass` or return a tuple or
  dict.
- *Constraints violated*, *mutated*: keep state in buffers, and do not set attributes in `forward`.

export stops at its first refusal. Where that is a value it cannot decide on, the run decides in its
place, so that later refusals are seen too; they are found under that decision.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK903", "export-refuses", kind="usage")
