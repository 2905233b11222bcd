"""`model.compile()` works in place and returns None; its result is no model.

The method of nn.Module compiles the module's own call and returns nothing. `model =
model.compile()` throws the model away and leaves None, which fails at the next use.

Write `model.compile()` on a line of its own and go on with `model`, or `compiled =
torch.compile(model)`, which returns a wrapper.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK805", "compile-in-place-gives-none", kind="usage", severity="error")


@rule.on(Wrap, name="Module.compile", result=("assigned", "called"))
def check(event):
    yield event.problem(
        f"`{event.subject}.compile()` compiles in place and returns None",
        help=f"write `{event.subject}.compile()` alone, or take `torch.compile({event.subject})`",
    )


class Double(torch.nn.Module):
    def forward(self, x):
        return x * 2


@rule.program(shows={"error": "NoneType"}, instead={"error": ""})
def bad():
    model = Double()
    compiled = model.compile(backend="eager")  # BRK805
    return compiled(torch.ones(2, 4))


@rule.becomes
def good():
    model = Double()
    model.compile(backend="eager")
    return model(torch.ones(2, 4))
