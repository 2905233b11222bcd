"""Sorting objects of your own class by their `__lt__` ends the graph.

`sorted(beams)`, `beams.sort()`, `max(beams)` and `min(beams)` compare each pair of objects: which is
smaller. Dynamo sorts constants only and does not call `__lt__` for that, so it ends the graph, also
for a dataclass with `order=True`. A single comparison, `a < b`, is traced; from torch 2.15 on
sorting is, too.

Give the number that counts as a key: `sorted(beams, key=lambda b: b.score)` is traced as long as
the key is a Python number or a string; for the largest take the last element. Scores that are
tensors are better stacked and given to `torch.topk`.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Instance, options

rule = Rule("BRK536", "order-own-objects", shares=("GB0207", "GB0059"))


@rule.on(Call, "sorted", "list.sort", "min", "max")
def check(event):
    if (
        event.kwargs.get("key") is not None
        or not event.args
        or (event.name not in ("min", "max") and since("2.15"))
    ):
        return
    values = event.args[0]
    if isinstance(values, Instance):
        return  # it is gone over, as a named tuple of numbers
    elements = getattr(values, "items", None) or [getattr(values, "element", values)]
    if getattr(values, "items", None) is not None and len(values.items) < 2:
        return
    owner = next((o for e in elements for o in options(e) if isinstance(o, Instance)), None)
    if owner is not None:
        yield event.graph_break(
            f"`{event.shown}` orders objects of `{owner.cls.info.name}` by `__lt__`",
            help="sort by a key that is a number: `sorted(items, key=lambda item: item.score)`",
        )


class Beam:
    def __init__(self, score, state):
        self.score, self.state = score, state

    def __lt__(self, other):
        return self.score < other.score

    def __gt__(self, other):
        return self.score > other.score


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), dynamo=("GB0207",))
def bad(x):
    beams = sorted([Beam(2, x), Beam(1, x * 2)])  # BRK536
    return beams[0].state + 1


@rule.becomes
def good(x):
    beams = sorted([Beam(2, x), Beam(1, x * 2)], key=lambda beam: beam.score)
    return beams[0].state + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad(x):
    best = max([Beam(2, x), Beam(1, x * 2)])  # BRK536
    return best.state + 1


@rule.becomes
def good(x):
    best = sorted([Beam(2, x), Beam(1, x * 2)], key=lambda beam: beam.score)[-1]
    return best.state + 1
