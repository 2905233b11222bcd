"""A tensor whose size depends on data makes the code behind its break compile again.

Where the graph ends because a result is as long as the values make it (a mask, `nonzero`, `unique`: BRK301 to
BRK306), Dynamo compiles what follows as a function of its own, for the size that came out first. The next call has
another size, and the function is compiled once more, with the size as a symbol.

Work with all elements and the mask, which removes the break and this; or pad to a fixed number of rows.
"""

import torch

from breakscope.rulekit.resumed import Resumed
from breakscope.rulekit.rule import Rule

rule = Rule("BRK731", "size-behind-break", kind="recompile", severity="warning", dynamo=("size",))


@rule.on(Resumed, what="size")
def check(event):
    yield event.problem(
        f"`{event.shown}` has another size in each call, so the code behind this break is compiled again",
        help="keep all elements and the mask, or pad: without the break there is no such code",
    )


def calls():
    torch.manual_seed(0)
    return [(torch.randn(40),) for _ in range(3)]


@rule.example(calls=calls, dynamo=("size",))
def bad(x):
    positive = x[x > 0]  # BRK302, BRK731
    return positive.sqrt().sum()


@rule.becomes
def good(x):
    positive = x > 0
    return torch.where(positive, x, 0).sqrt().sum()
