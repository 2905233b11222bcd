"""An `if` on a tensor's value ends the graph.

Python must know whether to take the branch, so Dynamo stops the graph, runs the comparison, reads one bool from the
device and starts a new graph behind it. On a GPU the host waits for the device at that point, in every step.

Write the choice as tensor work instead: `torch.where(condition, a, b)` where both sides are cheap and finite,
a mask or `clamp` where one side is the identity, `torch.cond` where one side is dear. A check that only raises belongs
outside the compiled region, or in `torch._assert_async`.

Mind the gradients: with `torch.where` both sides run, and a side that is infinite or NaN where it is not chosen still
gives a NaN gradient (0 * inf). Clamp its input first.
"""

import torch

from breakscope.events import Branch
from breakscope.rule import Rule

rule = Rule("BRK101", "branch-on-tensor", dynamo=("GB0170",))


@rule.on(Branch, construct=("if", "elif", "ternary"))
def check(event):
    if event.test.is_tensor and not event.raises:
        yield event.problem(
            f"`if {event.source}` reads a tensor's value, so the graph ends here",
            help="choose with `torch.where(condition, a, b)`, or with `torch.cond` when one side is dear",
        )


@rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),))
def bad(x):
    if x.sum() > 0:  # BRK101
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    x = torch.where(x.sum() > 0, x * 2, x)
    return x + 1
