"""Clipping gradients inside the region ends the graph in torch before 2.11.

`clip_grad_norm_` sorts the gradients by device and dtype with an operator that returns a dict,
which Dynamo before 2.11 could not put into a graph. torch 2.11 traces it. (Without any gradient
there is nothing to sort, and no break.)

Clip between the compiled backward pass and the optimizer's step, or compile the two together only
with a torch that traces it.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK609", "clip-gradients", dynamo=("GB0208: _group_tensors_by_device_and_dtype",), until="2.11"
)

NAMES = {
    f"torch.nn.utils.{owner}{name}"
    for owner in ("", "clip_grad.")
    for name in (
        "clip_grad_norm_",
        "clip_grad_value_",
        "clip_grads_with_norm_",
        "get_total_norm",
        "clip_grad_norm",
    )
}


@rule.on(Call, NAMES)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` groups gradients by device, which is not traced",
        help="clip outside the compiled region",
    )


@rule.example(lambda: (torch.ones(4, requires_grad=True),), dynamo=("GB0208",), module=True)
def bad():
    weight = torch.nn.Parameter(torch.ones(4))
    weight.grad = torch.ones(4)

    def step(x):
        torch.nn.utils.clip_grad_norm_([weight], 1.0)  # BRK609
        return x * weight

    return step


@rule.becomes
def good():
    weight = torch.nn.Parameter(torch.ones(4))
    weight.grad = torch.ones(4)

    def step(x):
        return x * weight

    return step
