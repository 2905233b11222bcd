"""`apply` of an object of an autograd.Function's class ends the graph.

An autograd.Function is never made: its methods are static, and `apply` belongs to the class. An object of
it, `self.fn = Rounded()` and then `self.fn.apply(x)`, works in eager mode, but Dynamo looks on the object
for what it needs of the class, does not find it, and ends the graph. An object that the region makes
itself is traced.

Keep the class, `self.fn = Rounded`, or call `Rounded.apply(x)`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK617", "apply-of-function-object", dynamo=("GB6215: AutogradFunctionVariable",), since="2.13"
)


@rule.on(Call, "autograd function object.apply")
def check(event):
    name = event.receiver.cls.info.name
    yield event.graph_break(
        f"`{event.shown}` applies an object of `{name}`, where Dynamo looks for the class",
        help=f"call `{name}.apply`, or keep the class in place of an object",
    )


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        return values.round()

    @staticmethod
    def backward(ctx, received):
        return received


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    rounded = Rounded()

    def forward(x):
        return rounded.apply(x) + 1  # BRK617

    return forward


@rule.becomes
def good():
    rounded = Rounded

    def forward(x):
        return rounded.apply(x) + 1

    return forward
