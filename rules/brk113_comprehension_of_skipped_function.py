"""A comprehension breaks the graph once more when the function around it is skipped.

Before Python 3.12 a list, set or dict comprehension is a function of its own, called with a
finished iterator. While Dynamo traces the code around it, it is inlined. When a break inside a
loop, a `try` or a `with` made Dynamo skip the function around it, Python calls the comprehension
by itself; Dynamo looks at it, and cannot take `next()` of a bare list, dict, `zip` or `enumerate`
iterator. So nothing in it is compiled, whatever it computes. Tuples, `range` and tensors are
iterated without a break, and generator expressions are left alone. Over `zip`, `enumerate`, a dict,
or an `nn.ModuleList` the same happens when the break stands in the comprehension itself, or in what
it calls (GB4347, GB0092); so it is with a generator expression that is handed to `sum`, `any`, `all`, or
a function of yours (GB8335, GB0091); of one that is the only argument of a call, as it is or unpacked by `f(*(...))`, also where
the break stands in the function that is called.

Fix the break that makes Dynamo skip the function; this one goes with it. Or write the comprehension as a loop
inside a function of its own, which Dynamo compiles as a frame of its own, or use Python 3.12, where comprehensions
are part of the function around them.
"""

import torch

from breakscope.rulekit.events import Comprehension
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, Dict, Sequence, options

rule = Rule(
    "BRK113",
    "comprehension-of-skipped-function",
    dynamo=("GB4347",),
    shares=("GB0036",),
    severity="warning",
    since="2.12",
    until_python="3.12",
)

TRACED = ("tuple", "range", "size")  # what Dynamo iterates when it begins with the iterator


@rule.on(Comprehension)
def check(event):
    if event.is_generator:
        yield event.problem(
            f"a break comes while the generator over `{event.shown}` is in use, and Dynamo cannot hand it on",
            help="fix that break, or write a loop",
            certainty="likely",
        )
    elif all(map(_breaks, options(event.iterable))):
        yield event.problem(
            f"the comprehension over `{event.shown}` runs by itself, because a break in it or around it ends the graph, "
            "and Dynamo cannot begin in its middle",
            help="fix that break, or write a loop in a function of its own",
            certainty="likely",
        )


def _breaks(iterable):
    if isinstance(iterable, Sequence):
        return iterable.type not in TRACED
    if isinstance(iterable, Const):
        return isinstance(iterable.value, str)
    return (
        isinstance(iterable, Dict)
        or iterable.is_unknown
        or getattr(iterable, "type", "") == "unknown"
    )


@rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),), dynamo=("GB4347", "GB0036"))
def bad(x):
    total = 0
    for _ in range(2):
        total = total + x[x > 0].sum()  # BRK302
    halves = list(x.chunk(2))
    parts = [torch.relu(half + total) for half in halves]  # BRK113
    return parts[0] + parts[1]


@rule.becomes
def good(x):
    total = 0
    for _ in range(2):
        total = total + x.clamp(min=0).sum()
    halves = list(x.chunk(2))
    parts = [torch.relu(half + total) for half in halves]
    return parts[0] + parts[1]
