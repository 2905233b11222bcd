"""`min` and `max` over a generator, with a key or over tuples, end the graph.

Dynamo's own `min` and `max` take an iterator of plain numbers. With `key=` or `default=`, or where the elements are
tuples, it falls back on Python's, which it can call on a list but not on a generator, on `zip`, `map` or `enumerate`:
there the graph ends (GB0193, GB0059).

Write a list: `max([len(s) for s in parts], default=0)`. It gives the same; of an iterator that others go on with, it
takes as many elements as `max` does.
"""

import torch

from breakscope.events import Call
from breakscope.rule import Rule
from breakscope.values import Sequence

rule = Rule("BRK544", "extreme-of-iterator", shares=("GB0193", "GB0059", "GB8335"), since="2.13")


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


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0193", "GB8335"))
def bad(x):
    longest = max((len(part) for part in (x, x)), default=0)  # BRK544
    return x * longest


@rule.becomes
def good(x):
    longest = max([len(part) for part in (x, x)], default=0)
    return x * longest


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad(x):
    best = max(zip([1, 3, 2], [4, 5, 6]))  # BRK544
    return x * best[1]


@rule.becomes
def good(x):
    best = max(list(zip([1, 3, 2], [4, 5, 6])))
    return x * best[1]
