"""A recompile that only a run can see.

A compiled function carries guards: the facts about its inputs that the compiled code relies on.
When a call fails a guard, Dynamo compiles the function again, which costs seconds, and keeps both
versions. After eight versions (`torch._dynamo.config.recompile_limit`) it gives up, and the
function is skipped from then on without a word.

The finding says in plain words what changed, quotes the guard that failed, and names the family
that the guard belongs to. Its line is the one that Dynamo names for the guard; where Dynamo names
none, the parameter, assignment or use that the guarded name goes back to. No other rule is about
this family.

The families are
- of tensors: `size` (sizes and number of dimensions), `stride` (strides, and where a view starts), `dtype`, `device`,
  `requires_grad`, `type` (a subclass, a sparse tensor, another Python type), `alias` (which arguments are one tensor);
- of Python values in arguments and locals: `int_argument`, `float_argument` (complex numbers too), `bool_argument`,
  `str_argument`, `enum_argument` (one of a few fixed objects), `none_argument` (None in some calls), `container_length`,
  `container_key` (keys or contents), `object_identity` (another object, function or module), `tensor_value`;
- by where the value lives: `attribute`, `global`, `closure`, `module_parameters`, `optimizer_state`;
- around the call: `grad_mode`, `autocast`, `default_dtype`, `global_state` (threads, determinism, modes, transforms);
- `backend` (another backend, or a new object of the same one) and `other`.

What to do: keep the guarded value the same in every call; or hold it in a tensor, which is guarded
by shape and dtype and not by value; or mark what varies as dynamic (`torch._dynamo.mark_dynamic`,
`torch.compile(..., dynamic=True)`). A recompile that happens once, for example in the first
optimizer step, costs once and may be left alone.
"""

from breakscope.rulekit.rule import Rule

rule = Rule("BRK951", "recompile-seen-only-by-a-run", kind="recompile", severity="warning")
