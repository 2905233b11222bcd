"""Something compiled is given to `torch.jit.trace` or `torch.jit.script`, which fail on it.

TorchScript wants the original Python code. `torch.jit.trace` of something compiled raises a
RuntimeError, and `torch.jit.script` of a compiled module a ValueError about an annotation that is
not the user's (torch 2.13). A module that was compiled in place by `model.compile()` can be
scripted, but not traced.

Trace or script the original module: keep a name for it beside the compiled one.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import IN_PLACE, Wrap, Wrapped

rule = Rule("BRK820", "torchscript-of-compiled", kind="usage", severity="error")


@rule.on(Wrap, name=("torch.jit.trace", "torch.jit.script"))
def check(event):
    made = event.target
    if not isinstance(made, Wrapped) or not made.is_compiled or event.checked:
        return
    if event.name == "torch.jit.trace" or (made.is_module and made.name != IN_PLACE):
        yield event.problem(
            f"`{event.subject}` is compiled, so `{event.name}` raises",
            help="give the original module to TorchScript",
        )


@rule.program(shows={"error": "RuntimeError"}, instead={"error": ""})
def bad():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    return torch.jit.trace(model, torch.ones(2, 4))  # BRK820


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    return torch.jit.trace(model, torch.ones(2, 4))


@rule.program(shows={"error": "ValueError"}, instead={"error": ""})
def bad_script():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    return torch.jit.script(model)  # BRK820


@rule.becomes
def good_script():
    model = torch.nn.Linear(4, 4)
    return torch.jit.script(model)
