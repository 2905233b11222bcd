"""A call of a class with its type parameters, `Box[Tensor](x)`, ends the graph.

The brackets are for type checkers: at run time they make an object that only hands the call on, and
Dynamo does not trace that object, though it traces the class. It is the same where the alias has a
name, `TensorBox = Box[Tensor]`, and for named tuples and dataclasses that are generic.

Call the class itself, `Box(x)`. What a type checker is to know can stand in an annotation,
`box: Box[Tensor] = Box(x)`, or in a class of its own, `class TensorBox(Box[Tensor])`, whose call is
traced.
"""

from typing import Generic, TypeVar

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK569", "generic-alias", dynamo=("GB0147: [\\w.]+\\[",), shares=("GB0116",))


@rule.on(Call, "types.GenericAlias()")
def check(event):
    name = event.receiver.info.name
    yield event.graph_break(
        f"`{event.shown}` calls `{name}` through its type parameters, which Dynamo does not trace",
        help=f"call the class itself, `{name}(...)`, and leave the parameters to an annotation",
    )


Held = TypeVar("Held")


class Box(Generic[Held]):
    def __init__(self, held: Held):
        self.held = held


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0116", "GB0147"))
def bad(x):
    box = Box[torch.Tensor](x * 2)  # BRK569
    return box.held + x


@rule.becomes
def good(x):
    box: Box[torch.Tensor] = Box(x * 2)
    return box.held + x


Boxed = Box[torch.Tensor]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0147",))
def bad_name(x):
    return Boxed(x * 2).held + x  # BRK569


@rule.becomes
def good_name(x):
    return Box(x * 2).held + x
