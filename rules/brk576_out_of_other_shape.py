"""A tensor under `out=` that is not of the result's shape ends the graph.

`torch.arange(n, out=x.new())`, `torch.cat(parts, out=torch.empty(0))`: torch resizes the tensor, of
which Dynamo has handed out the old shape already, so it refuses the call. One that is not contiguous,
as `out=buffer.t()`, is refused as well.

Use what the function returns, without `out=`; a compiled graph plans its memory by itself. If
another name needs the values, make the tensor of the right shape first.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK576",
    "out-of-other-shape",
    dynamo=("GB0240", "GB0241", "GB0242", "GB0247"),
    unshown=("GB0241",),
)


@rule.on(Call, "a result into a tensor of another form")
def check(event):
    why = (
        "that is not contiguous"
        if event.args[0].kind == "strided"
        else "of another shape, which torch would resize"
    )
    yield event.graph_break(
        f"`{event.shown}` writes into a tensor {why}",
        help="use what the function returns, without `out=`",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0247",))
def bad(x):
    places = torch.arange(4, out=x.new())  # BRK576
    return x + places


@rule.becomes
def good(x):
    places = torch.arange(4)
    return x + places


@rule.example(lambda: (torch.ones(3, 4),), dynamo=("GB0240",))
def bad_several(x):
    values, order = torch.empty(0), torch.empty(0, dtype=torch.long)
    torch.sort(x, out=(values, order))  # BRK576
    return values + order


@rule.becomes
def good_several(x):
    values, order = torch.sort(x)
    return values + order


@rule.example(lambda: (torch.ones(3, 4),), dynamo=("GB0242",))
def bad_layout(x):
    buffer = torch.empty(4, 3)
    torch.sin(x, out=buffer.t())  # BRK576
    return buffer


@rule.becomes
def good_layout(x):
    buffer = torch.sin(x).t()
    return buffer
