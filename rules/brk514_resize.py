"""`resize_` ends the graph.

`Tensor.resize_` and `resize_as_` change the memory of a tensor that others may share. AOTAutograd
cannot express that, so Dynamo refuses them; on an input of the graph or a buffer it reports a view
made in place.

Make a new tensor of the wanted size: `x.new_zeros(n)`, `torch.empty(n)`; grow a scratch buffer by
replacing it, in `__init__` for the largest size and cut with `buffer[:n]` after that. `resize_`
leaves new elements uninitialised.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK514", "resize", dynamo=("GB0126", "GB0127", "GB0148: inplace view"))


@rule.on(Call, "Tensor.resize_", "Tensor.resize_as_", "Tensor.set_")
def check(event):
    if event.name == "Tensor.set_" and getattr(event.receiver, "is_computed", False):
        return  # measured: `set_` on a fresh tensor is traced
    yield event.graph_break(
        f"`{event.shown}` changes a tensor's memory in place",
        help="make a tensor of the wanted size with `new_zeros` or `torch.empty`, or cut a large buffer",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0126",))
def bad(x):
    y = torch.empty(0)
    y.resize_(4)  # BRK514
    y.copy_(x)
    return y + 1


@rule.becomes
def good(x):
    y = torch.empty(4)
    y.copy_(x)
    return y + 1


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0148",))
def bad(x):
    y = x.sin()
    x.resize_(2)  # BRK514
    return y


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0127",))
def bad(x):
    y = torch.empty(0)
    y.resize_as_(x)  # BRK514
    return x + 1


@rule.becomes
def good(x):
    return x + 1
