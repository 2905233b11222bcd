"""Asking for inference mode ends the graph.

`torch.is_inference_mode_enabled()` and `tensor.is_inference()` are not traced. The question next to
it is: `torch.is_grad_enabled()` is a constant with a guard, so each mode gets a graph of its own
and neither breaks.

Write `not torch.is_grad_enabled()` where that is what you mean: it is True under `torch.no_grad()`
too.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK518", "inference-mode-probe", dynamo=("GB0046", "GB0045"))


@rule.on(Call, "torch.is_inference_mode_enabled", "Tensor.is_inference", "torch.is_inference")
def check(event):
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}`",
        help="call `torch.is_grad_enabled()`, which becomes a constant of the graph",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0046",))
def bad(x):
    if torch.is_inference_mode_enabled():  # BRK518
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    if not torch.is_grad_enabled():
        x = x * 2
    return x + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0045",))
def bad(x):
    if x.is_inference():  # BRK518
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    return x + 1
