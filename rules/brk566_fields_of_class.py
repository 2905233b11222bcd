"""`dataclasses.fields` of a class ends the graph; of an object it is traced.

Dynamo reads the fields of an object that it knows, and has no answer for the class itself:
`fields(self.__class__)`, `fields(type(self))`, `fields(cls)` and `fields(Output)` end the graph.

Give it the object, `fields(self)`. Where there is none, as in a class method, read the names once
outside of the compiled code: `NAMES = [f.name for f in fields(Output)]`.
"""

import dataclasses

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Class, options

rule = Rule("BRK566", "fields-of-class", dynamo=("GB0180",))


@rule.on(Call, "dataclasses.fields")
def check(event):
    given = event.argument(0, "class_or_instance")
    if given is not None and all(isinstance(value, Class) for value in options(given)):
        yield event.graph_break(
            f"`{event.shown}` is asked of a class, which Dynamo does not answer",
            help="give it an object of the class, or keep the names in a constant outside of the compiled code",
        )


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    @dataclasses.dataclass
    class Scales:
        first: float = 2.0
        second: float = 3.0

    class Net(torch.nn.Module):
        def forward(self, x):
            for field in dataclasses.fields(Scales):  # BRK566
                x = x * len(field.name)
            return x

    return Net()


@rule.becomes
def good():
    @dataclasses.dataclass
    class Scales:
        first: float = 2.0
        second: float = 3.0

    class Net(torch.nn.Module):
        def forward(self, x):
            for field in dataclasses.fields(Scales()):
                x = x * len(field.name)
            return x

    return Net()
