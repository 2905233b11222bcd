"""`ctx.mark_dirty` in an autograd.Function ends the graph where no gradient is needed.

A Function that changes its input in place marks it for autograd with `ctx.mark_dirty(x)`. While gradients
are needed Dynamo makes a subgraph of `forward` and understands the marking. In inference, where
nothing needs a gradient, it traces `forward` like any function, and there `ctx` is an object that
it cannot put back together: the graph ends. And with gradients it ends where `forward` does not return what it
marks by the same name: `return x.mul_(2)` in place of `x.mul_(2)` and `return x`.

In a compiled graph working in place saves nothing: the compiler decides itself which buffers are
used again. Return a new tensor, `return x + 1`, and drop `mark_dirty`; code that needs the changed
input takes the result instead.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK612",
    "mark-dirty",
    severity="warning",
    since="2.13",
    dynamo=("GB2019", "GB2464", "GB0092: LambdaVariable"),
    unshown=(
        "GB2464",
    ),  # Dynamo compiles `forward` by itself beside it, where the marking ends the graph
)


@rule.on(Call, "torch.autograd.function.FunctionCtx.mark_dirty")
def check(event):
    marked = event.args[0] if event.args else None
    needs_none = marked is not None and marked.is_tensor and marked.requires_grad is False
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}` where no gradient is needed",
        help="return a new tensor instead of changing the input",
        certainty=None if needs_none else "possible",
    )


@rule.on(Call, "torch.autograd.Function.apply of what is marked, and not returned")
def check_returned(event):
    name = event.receiver.info.name
    yield event.graph_break(
        f"`{name}` does not return the tensor that it marks as changed, by the same name",
        help="return it as it is marked, or a new tensor instead of changing the input",
    )


@rule.example(
    lambda: (torch.ones(4),),
    lambda: (torch.full((4,), torch.nan),),
    module=True,
    equal=False,
    dynamo=("GB2019", "GB0092"),
)
def bad():
    class Increment(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)  # BRK612
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad

    def forward(x):
        return Increment.apply(x) * 2

    return forward


@rule.becomes
def good():
    class Increment(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    def forward(x):
        return Increment.apply(x) * 2

    return forward
