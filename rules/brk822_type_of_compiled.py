"""A compiled module is no instance of its model's class.

`torch.compile(model)` returns an `OptimizedModule` around the model. `isinstance(compiled, Net)` is
False, so the branch for `Net` is never taken; only `nn.Module` still fits.

Ask before wrapping, keep a name for the plain model, or compile in place with `model.compile()`,
which keeps the type.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import COMPILE, Use
from breakscope.rulekit.values import Class

rule = Rule("BRK822", "type-of-compiled", kind="usage", severity="warning")


@rule.on(Use, name="isinstance")
def check(event):
    asked = event.args[1]
    if event.value.name == COMPILE and isinstance(asked, Class) and event.is_own_class:
        yield event.problem(
            f"`{event.subject}` is compiled, so it is no `{asked.info.name}`: this is False",
            help="test the plain model, or compile a model of your own class in place with `.compile()`, which keeps the type",
        )


class Net(torch.nn.Linear):
    pass


@rule.program(shows={"returns": False}, instead={"returns": True})
def bad():
    model = torch.compile(Net(4, 4), backend="eager")
    return isinstance(model, Net)  # BRK822


@rule.becomes
def good():
    model = Net(4, 4)
    model.compile(backend="eager")
    return isinstance(model, Net)
