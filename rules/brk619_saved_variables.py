"""`ctx.saved_variables` is empty while Dynamo traces `backward`.

`saved_variables` is what `saved_tensors` was called before torch 0.4. Python still gives the saved tensors, with a
warning. Dynamo knows them by the new name only: under the old one it finds none, so that taking them apart
raises, and the graph ends at `apply` wherever an input needs a gradient.

Write `ctx.saved_tensors`: it is the same tuple. The rewrite counts as unsafe only because the old name warns, which a
program that makes errors of warnings notices.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK619", "saved-variables", shares=("GB0088",), fix="unsafe")


@rule.on(Call, "torch.autograd.function.FunctionCtx.saved_variables")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` is empty while Dynamo traces",
        help="write `saved_tensors`, which is the same",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    if not isinstance(found, cst.Attribute):
        return None
    return rw.swap(node, found, f"{rw.code(found.value)}.saved_tensors")


@rule.example(
    lambda: (torch.ones(4, requires_grad=True), torch.ones(4)), dynamo=("GB0088",), module=True
)
def bad():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x * scale

        @staticmethod
        def backward(ctx, grad):
            x, scale = ctx.saved_variables  # BRK619
            return grad * scale, None

    def forward(x, scale):
        return Scaled.apply(x, scale) + 1

    return forward


@rule.becomes
def good():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x * scale

        @staticmethod
        def backward(ctx, grad):
            x, scale = ctx.saved_tensors
            return grad * scale, None

    def forward(x, scale):
        return Scaled.apply(x, scale) + 1

    return forward
