"""Setting an attribute of a class that a call in the region makes ends the graph.

`namedtuple(name, fields)` and `type(name, bases, body)` are traced: the class is made, and so are its
objects. A store to it (`Output.keys = names`, `setattr(Output, "keys", names)`) is not, since the class is
not there before the graph has run. A class of the module's top takes it, from torch 2.13 on.

Hand the attributes to `type` in its third argument, or make the class, with all that it has, at the
module's top.
"""

from collections import namedtuple

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK550",
    "attribute-of-made-class",
    dynamo=(r"GB0467: setattr\(\) is not supported on type type",),
)


@rule.on(Call, "type().__setattr__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` sets an attribute of a class that a call in the region has made",
        help="make the class, with its attributes, at the module's top",
    )


def names(self):
    return self._fields


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((2,), torch.nan),))
def bad(x):
    Output = namedtuple("Output", ["mean", "total"])
    Output.keys = names  # BRK550
    return Output(x.mean(), x.sum()).total


class Made(namedtuple("Output", ["mean", "total"])):
    keys = names


@rule.becomes
def good(x):
    return Made(x.mean(), x.sum()).total
