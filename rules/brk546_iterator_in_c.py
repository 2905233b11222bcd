"""`math.prod` over a generator ends the graph, and so do `min` and `max` with a key or over tuples.

Dynamo's own `min` and `max` take an iterator of plain numbers. With `key=` or `default=`, or where
the elements are tuples, it falls back on Python's, which it can call on a list but not on a
generator, on `zip`, `map` or `enumerate`: there the graph ends (GB0193, GB0059). `math.prod` and
`math.fsum` always are Python's own (GB0055).

Write a list: `max([len(s) for s in parts], default=0)`, `math.prod([x.shape[i] for i in dims])`. It
gives the same; of an iterator that others go on with, it takes as many elements as the function
does.
"""

import math

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence

rule = Rule(
    "BRK546", "iterator-in-c", shares=("GB0193", "GB0055", "GB0059", "GB8335"), since="2.13"
)


@rule.on(Call, "iterator.min", "iterator.max")
def check(event):
    name = event.name.rpartition(".")[2]
    asks = [word for word in ("key", "default") if word in event.kwargs]
    if asks or isinstance(event.args[1], Sequence):
        what = f"with `{asks[0]}=`" if asks else "of tuples"
        yield event.problem(
            f"Dynamo does not trace `{name}` over an iterator {what}, so the graph ends at `{event.shown}`",
            help=f"hand it a list: `{name}([...])`",
        )


@rule.on(Call, "iterator.prod", "iterator.fsum")
def check_product(event):
    name = f"math.{event.name.rpartition('.')[2]}"
    yield event.problem(
        f"Dynamo does not hand an iterator to `{name}`, so the graph ends at `{event.shown}`",
        help=f"hand it a list: `{name}([...])`",
    )


@rule.example(lambda: (torch.ones(4, 3),), dynamo=("GB0055", "GB8335"))
def bad(x):
    size = math.prod(x.shape[i] for i in (0, 1))  # BRK546
    return x * size


@rule.becomes
def good(x):
    size = math.prod([x.shape[i] for i in (0, 1)])
    return x * size


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0193", "GB8335"))
def bad(x):
    longest = max((len(part) for part in (x, x)), default=0)  # BRK546
    return x * longest


@rule.becomes
def good(x):
    longest = max([len(part) for part in (x, x)], default=0)
    return x * longest


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad(x):
    best = max(zip([1, 3, 2], [4, 5, 6]))  # BRK546
    return x * best[1]


@rule.becomes
def good(x):
    best = max(list(zip([1, 3, 2], [4, 5, 6])))
    return x * best[1]
