"""A hook that is put on a module behind the first compiled call does not run.

Dynamo traces the hooks that it finds on a module inside of what it compiles, and guards their number where there are
some. Where it finds none it looks no further: a forward hook, a pre-hook or a backward hook that is registered later is
left out by every call that needs no new graph, without a word. Features are not collected, and gradients not changed.

Put the hooks on before the first compiled call. To look into a model that is compiled already, call the module as it was
before `torch.compile`, which shares its weights, or have `torch.compiler.reset()` forget what was compiled.
`torch._dynamo.config.skip_nnmodule_hook_guards = False`, set before the first call, makes Dynamo guard on it, at a cost
in every call.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK837", "late-hook", kind="usage", severity="error")


@rule.on(Varies, what="late hooks")
def check(event):
    yield event.problem(
        f"what is compiled was called with `{event.name}` before, and does not run a hook that is put on it now",
        help="put the hook on before the first compiled call, or run the module itself, as it was before torch.compile",
    )


@rule.program(shows={"returns": 0}, instead={"returns": 1})
def bad():
    layer = torch.nn.Linear(4, 4)
    compiled = torch.compile(torch.nn.Sequential(layer, torch.nn.ReLU()), backend="eager")
    seen = []
    compiled(torch.ones(2, 4))
    layer.register_forward_hook(lambda module, args, output: seen.append(1))  # BRK837
    compiled(torch.ones(2, 4))
    return len(seen)


@rule.becomes
def good():
    layer = torch.nn.Linear(4, 4)
    compiled = torch.compile(torch.nn.Sequential(layer, torch.nn.ReLU()), backend="eager")
    seen = []
    layer.register_forward_hook(lambda module, args, output: seen.append(1))
    compiled(torch.ones(2, 4))
    return len(seen)
