"""A branch on a size compiles one graph for each side.

`if x.shape[1] > 6` does not break the graph: Dynamo knows the sizes while it traces. It records
which side it took as a guard on the size, so an input on the other side compiles again. `%` and
`==` on a size split it further: one graph for each remainder, or for each size.

Write it without the question where you can: `x[:, -6:]` is right for short inputs too, `F.pad(x,
(0, -n % m))` needs no test for a remainder of zero. Otherwise let the caller bring inputs to a few
sizes.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK713", "branch-on-size", kind="recompile", severity="warning", dynamo=("size",))


@rule.on(Varies, what="size", use="branch")
def check(event):
    yield event.problem(
        f"the region branches on a size of `{event.name}` that varies{event.seen}; each side is compiled by itself",
        help="write it without the branch (slices and pads accept any size), or pad to a few sizes outside",
    )


def calls():
    return [(torch.ones(2, n),) for n in (5, 4, 9, 3)]


@rule.example(calls=calls)
def bad(x):
    if x.shape[1] > 6:  # BRK713
        x = x[:, -6:]
    return x.mean(1)
