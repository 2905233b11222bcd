"""Reading an attribute behind a descriptor of your own ends the graph in torch before 2.8.

A class with `__get__` that another class holds as an attribute (a checked or clamped field) is code
that runs at every read. Dynamo before 2.8 takes the descriptor itself for the value, and the
operation that uses it ends the graph and skips the function. torch 2.8 traces `__get__`. (A
`property` was always traced.)

Write a `property`, or read the value once in `__init__`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK528", "descriptor", until="2.8")


@rule.on(Call, "descriptor.__get__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` is read through a descriptor, which torch before 2.8 does not trace",
        help="write a `property`, or read the value once in `__init__`",
        skips="call",
    )


class Doubled:
    def __get__(self, owner, cls=None):
        return owner.half * 2


class Settings:
    width = Doubled()

    def __init__(self):
        self.half = 2


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    settings = Settings()

    def step(x):
        return x * settings.width  # BRK528

    return step


@rule.becomes
def good():
    width = Settings().width

    def step(x):
        return x * width

    return step
