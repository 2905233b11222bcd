"""Setting `__class__` of an object inside the region ends the graph.

`self.__class__ = Ready` turns an object into one of another class, as lazily built modules do in
their first call. Dynamo knows an object by its class and guards it, and has no way to put another one
in: the graph ends at the assignment.

Set it once before the region, in a first call that is not compiled, or make an object of the other class.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK583", "class-assignment", shares=("GB4271",), since="2.13")


@rule.on(Call, "object.__class__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` gives an object another class",
        help="set it before the region, or make an object of the other class",
    )


class Waiting:
    factor = 1


class Ready(Waiting):
    factor = 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB4271",))
def bad(x):
    scale = Waiting()
    scale.__class__ = Ready  # BRK583
    return x * scale.factor


@rule.becomes
def good(x):
    scale = Ready()
    return x * scale.factor
