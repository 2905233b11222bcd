"""Comparing the addresses of two tensors ends the graph.

`a.data_ptr() == b.data_ptr()` tests whether two tensors share memory. Inside the graph tensors have
no memory yet. Dynamo answers the comparison only where it can prove the addresses equal, for a
tensor and itself; for two tensors, or a tensor and a view of it, the graph ends. (Reading an
address without comparing it is traced. Before torch 2.11 the comparison was traced, too.)

Compare by identity instead, `a is b`, which Dynamo decides with a guard. Whether two tensors alias is
a property of how they were made: decide it where they are made, or outside the region.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK533", "address-comparison", dynamo=("GB5976",), since="2.11")


@rule.on(Call, "Tensor.data_ptr.__eq__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` compares addresses, which tensors in the graph do not have",
        help="compare by identity, `a is b`, or decide it outside the region",
    )


@rule.example(
    lambda: (torch.ones(4), torch.ones(4)), lambda: (torch.ones(4), torch.full((4,), torch.nan))
)
def bad(x, y):
    if x.data_ptr() != y.data_ptr():  # BRK533
        y = y + x
    return y * 2


@rule.becomes
def good(x, y):
    if x is not y:
        y = y + x
    return y * 2
