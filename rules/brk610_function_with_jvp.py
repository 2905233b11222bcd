"""An autograd.Function that defines `jvp` ends the graph.

`torch.compile` follows `forward` and `backward` of an autograd.Function into the graph. A class
that also has a `jvp`, for forward-mode differentiation, is refused as a whole: Dynamo ends the
graph at `apply` wherever an input needs a gradient, though `jvp` is never called.

Keep `jvp` in a class of its own, derived from the one that the model uses, and call that class
where forward-mode derivatives are wanted. Where it is a leftover, drop it; `torch.func.jvp` of
plain tensor code needs none.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK610", "function-with-jvp", dynamo=("GB0144",))


@rule.on(Call, "torch.autograd.Function.apply")
def check(event):
    if all(value.requires_grad is False for value in event.args if value.is_tensor):
        return
    if any(
        getattr(statement, "name", "") == "jvp"
        for cls in event.classes
        for statement in cls.node.body
    ):
        name = event.receiver.info.name
        yield event.problem(
            f"`{name}` defines `jvp`, which Dynamo refuses, so the graph ends at `{event.shown}`",
            help=f"move `jvp` to a class derived from `{name}`, and use that for forward-mode derivatives only",
            certainty="likely",
            condition=_where_inputs_need_gradients(event),
        )


def _where_inputs_need_gradients(event) -> str:
    """The test of the arguments, where these alone decide it: all are inputs of the region."""
    nodes = event.node.args if len(event.node.args) == len(event.args) else []
    given = [(node, value) for node, value in zip(nodes, event.args) if value.is_tensor]
    if not all(value.is_argument and value.requires_grad is None for _, value in given):
        return ""
    return " or ".join(f"{ast.unparse(node)}.requires_grad" for node, _ in given)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class ForwardScaled(Scaled):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


@rule.example(
    lambda: (torch.ones(4, requires_grad=True),),
    lambda: (torch.full((4,), torch.nan, requires_grad=True),),
)
def bad(x):
    return ForwardScaled.apply(x) + 1  # BRK610


@rule.becomes
def good(x):
    return Scaled.apply(x) + 1
