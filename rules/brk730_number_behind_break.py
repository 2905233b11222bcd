"""A number that is read at a break makes the code behind it compile again.

Where the graph ends because a number is read from a tensor (BRK201 and its like), or drawn by Python, Dynamo compiles what follows as
a function of its own, and that is compiled for the number that came out first. The next call reads another one,
and the function is compiled once more, with the number as a symbol; a branch on it, or a size, may compile it
again for later ones. What only keeps or returns the number is not compiled for it.

A function that Dynamo leaves to Python, one under `torch.compiler.disable` or one with a break, hands on what it
returns in the same way: a number that it reads, draws or counts, or a clock's.

What `random.choice` and its like give is another one as well, and each that guards tell apart is compiled for.

What keeps the number a tensor removes the break and this: `y * scale` works with a 0-d tensor as it does with a
number.
"""

import torch

from breakscope.rulekit.resumed import Resumed
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK730",
    "number-behind-break",
    kind="recompile",
    severity="warning",
    dynamo=("int_argument", "float_argument"),
)


@rule.on(Resumed, what="choice")
def check_choice(event):
    yield event.problem(
        f"`{event.shown}` gives another one in each call, and the code behind this break is compiled for each",
        help="choose outside of the region: call one of several compiled functions, or pass a tensor",
    )


@rule.on(Resumed, what="number")
def check(event):
    yield event.problem(
        f"`{event.shown}` gives another number in each call, so the code behind this break is compiled again",
        help="keep it a tensor, or read it outside: without the break there is no such code",
    )


def calls():
    torch.manual_seed(0)
    return [(torch.randn(8),) for _ in range(3)]


@rule.example(calls=calls, dynamo=("float_argument",))
def bad(x):
    scale = x.abs().max().item()  # BRK201, BRK730
    return x / scale


@rule.becomes
def good(x):
    scale = x.abs().max()
    return x / scale
