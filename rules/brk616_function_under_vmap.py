"""`torch.vmap` of an autograd.Function's `apply` ends the graph in torch before 2.15.

`torch.vmap(Scale.apply)(x)` gives `vmap` a bound method of the class, and looks up a name on it that
Dynamo has no answer for; the graph ends there. Called inside of a function that is mapped, `apply`
is traced.

Map a function that calls it: `torch.vmap(lambda row: Scale.apply(row))(x)`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Method

rule = Rule("BRK616", "function-under-vmap", dynamo=("GB0150: apply",), until="2.15")


@rule.on(Call, "torch.vmap", "torch.func.vmap")
def check(event):
    mapped = event.argument(0, "func")
    if isinstance(mapped, Method) and mapped.name == "apply":
        yield event.graph_break(
            f"`{event.shown}` maps the `apply` of an autograd.Function",
            help="map a function that calls it: `lambda row: ....apply(row)`",
        )


class Scale(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@rule.example(lambda: (torch.ones(2, 4),), lambda: (torch.full((2, 4), torch.nan),))
def bad(x):
    y = x + 1
    return torch.vmap(Scale.apply)(y)  # BRK616


@rule.becomes
def good(x):
    y = x + 1
    return torch.vmap(lambda row: Scale.apply(row))(y)
