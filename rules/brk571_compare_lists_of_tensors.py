"""Comparing two lists or two tuples that hold a tensor ends the graph.

`x.shape == (2, length)` with a `length` that is a 0-d tensor, `[a, b] == [c, d]`, `(score, 1) < (best, 2)`:
Python compares item by item, and needs the outcome of each comparison as a bool before it goes on.
Where one item is a tensor, and the other a number or another tensor, that outcome is a tensor, which
Dynamo cannot decide while it traces. Items before it that differ, lists of different lengths and the same tensor on
both sides are decided without it.

Compare the sizes as Python numbers, and leave the tensor out; compare tensors by themselves, which
gives a tensor for `torch.where`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence

rule = Rule("BRK571", "compare-lists-of-tensors", dynamo=("GB6622",), shares=("GB0170",))


@rule.on(Call, "list.__eq__")
def check(event):
    if not event.args or not isinstance(event.args[0], Sequence):
        return  # a call of `list.__eq__` by its name, which is no comparison of two lists
    kind = "lists" if event.args[0].type == "list" else "tuples"
    yield event.graph_break(
        f"`{event.source}` compares the items of two {kind}, and a tensor is among them",
        help="compare the numbers alone, and the tensors by themselves",
    )


@rule.example(
    lambda: (torch.ones(2, 3), torch.tensor(3)),
    lambda: (torch.ones(2, 3), torch.tensor(4)),
    dynamo=("GB6622",),
)
def bad(x, length):
    width = length * 1
    whole = x.shape == (2, width)  # BRK571
    return x * whole


@rule.becomes
def good(x, length):
    width = length * 1
    whole = (x.shape[1] == width) & (x.shape[0] == 2)
    return x * whole
