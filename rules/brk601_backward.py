"""`backward()` inside the region ends the graph.

Dynamo captures the forward pass; AOTAutograd derives the backward pass from the graph as a whole. A
`loss.backward()` inside the region would need gradients in the middle of the capture, so Dynamo
stops there, runs the backward pass eagerly and starts a new graph behind it.

Compile the part that computes the loss and call `backward()` outside: forward and backward are then
compiled all the same. To have the whole step in one region, `torch._dynamo.compiled_autograd`
captures the backward pass too.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

OUTSIDE = (
    "return the loss and call `backward()` outside: the backward pass is compiled all the same"
)

rule = Rule(
    "BRK601",
    "backward-in-region",
    dynamo=("GB0123", r"GB0007: function `backward`", r"GB0008: GradScaler\.\w+"),
    seen="{} runs in the backward pass, which Dynamo does not trace here",
    help=OUTSIDE,
)


@rule.on(Call, "Tensor.backward", "torch.autograd.backward")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` runs a backward pass inside the region",
        help=OUTSIDE,
        setting="trace_autograd_ops" if since("2.13") else "",
    )


@rule.on(
    Call,
    {
        f"torch.{where}GradScaler.{name}"
        for where in ("", "amp.", "cuda.amp.")
        for name in ("scale", "unscale_", "step", "update", "get_scale")
    },
)
def check_scaler(event):
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}`",
        help="return the loss; scale, step and update outside the compiled region",
    )


@rule.example(
    lambda: (torch.ones(4), torch.ones(4, requires_grad=True)), equal=False, dynamo=("GB0123",)
)
def bad(x, w):
    loss = (x * w).sum()
    loss.backward()  # BRK601
    return loss.detach()


@rule.becomes
def good(x, w):
    loss = (x * w).sum()
    return loss
