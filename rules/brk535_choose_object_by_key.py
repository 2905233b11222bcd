"""`max` or `min` of objects with a key ends the graph in torch before 2.15.

`max(beams, key=lambda b: b.score)` over objects, modules, or tuples that hold them: Dynamo
evaluates `max` and `min` over numbers and strings, with or without a key, but has no code for
elements that are not constants. The same choice by `sorted` is traced, as long as the key is a
Python number.

Write `sorted(beams, key=score, reverse=True)[0]` for `max` and `sorted(beams, key=score)[0]` for
`min`: both take the first of equal elements, as `max` and `min` do. For a key that is a tensor see
BRK112.

The rewrite counts as unsafe: an empty sequence raises IndexError instead of ValueError, and where a
key is NaN another element may be chosen.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import ExternalInstance, Instance, holds_tensor, options

rule = Rule("BRK535", "choose-object-by-key", shares=("GB0193",), fix="unsafe", until="2.15")


@rule.on(Call, "min", "max")
def check(event):
    if "key" not in event.kwargs or not event.args:
        return
    values, compared = event.args[0], event.args[-1]
    elements = getattr(values, "items", None) or [getattr(values, "element", values)]
    if any(map(_is_object, elements)) and not any(map(holds_tensor, (*elements, compared))):
        better = (
            "sorted(..., key=..., reverse=True)[0]"
            if event.name == "max"
            else "sorted(..., key=...)[0]"
        )
        yield event.problem(
            f"Dynamo does not trace `{event.name}` of objects by a key, so the graph ends at `{event.shown}`",
            help=f"write `{better}`",
        )


def _is_object(value):
    inside = value.items if getattr(value, "type", "") == "tuple" and value.items else [value]
    return any(isinstance(o, Instance | ExternalInstance) for part in inside for o in options(part))


@rule.rewrite
def rewrite(node, problem):
    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem)
    given = rw.arguments(found) if found is not None else None
    if given is None or not given[0] or set(given[1]) != {"key"}:
        return None
    texts = [rw.code(place) for place in given[0]]
    source = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    turn = ", reverse=True" if rw.dotted(found.func) == "max" else ""
    return rw.swap(node, found, f"sorted({source}, key={rw.code(given[1]['key'])}{turn})[0]")


class Beam:
    def __init__(self, length, state):
        self.length, self.state = length, state


@rule.example(
    lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), lambda: (torch.empty(0),)
)
def bad(x):
    beams = [Beam(1, x), Beam(3, x * 2), Beam(3, x * 3)]
    # the longest
    best = max(beams, key=lambda beam: beam.length)  # BRK535
    return best.state + 1


@rule.becomes
def good(x):
    beams = [Beam(1, x), Beam(3, x * 2), Beam(3, x * 3)]
    # the longest
    best = sorted(beams, key=lambda beam: beam.length, reverse=True)[0]
    return best.state + 1
