"""A flag that the region sets and reads recompiles once.

`if not self.ready: ...; self.ready = True` is decided while Dynamo traces, with a guard on the
flag. The next call finds the other value and compiles the other path. It happens once for each
value, but it doubles the compile time. `self.even = not self.even` does the same in turns. A member of an enum and
a tuple of numbers and texts are guarded in the same way, and so is a function of torch's.

Do what the first call does in `__init__`, or in a method that the caller calls once before
compiling. A flag that must change with the data is a 0-d bool buffer and a `torch.where`.
"""

import enum
from typing import NamedTuple

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, External, Py, Sequence

rule = Rule("BRK706", "flag-attribute", kind="recompile", severity="warning", dynamo=("attribute",))


@rule.on(Store, scope="attribute", is_read=True)
def check(event):
    new, first = _known(event.value), _known(event.initial)
    if new is None or type(new) is not type(first):
        return
    if event.reads_itself and type(new) not in (bool, tuple):
        return  # a counter
    if new != first:
        yield event.problem(
            f"`{event.owner}.{event.name}` is {first!r} at first, then {new!r}, so it is compiled again",
            help="do the first call's work in `__init__`, or set it outside the compiled region",
            certainty="likely",
        )


def _known(value):
    """A constant, a member of an enum, a function, or a tuple of these; None for anything else."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, External):
        return Member(*value.name.rsplit(".", 1)) if "." in value.name else None
    if isinstance(value, Py):
        cls, _, member = value.type.removeprefix("enum ").partition(".")
        return Member(cls, member) if member else None
    if not isinstance(value, Sequence) or value.type != "tuple" or not value.items:
        return None
    items = [_known(item) for item in value.items]
    return None if None in items else tuple(items)


class Member(NamedTuple):
    cls: str
    name: str

    def __repr__(self):
        return f"{self.cls}.{self.name}"


CALLS = [lambda: (torch.ones(4),)] * 3


@rule.example(*CALLS, module=True)
def bad():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ready = False

        def forward(self, x):
            if not self.ready:
                self.ready = True  # BRK706
                x = x * 1
            return x + 1

    return Scaled()


@rule.becomes
def good():
    class Scaled(torch.nn.Module):
        def forward(self, x):
            return x + 1

    return Scaled()


@rule.example(*CALLS, module=True)
def bad_in_turns():
    class Turns(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.even = True

        def forward(self, x):
            self.even = not self.even  # BRK706
            return x * 2 if self.even else x * 3

    return Turns()


class Phase(enum.Enum):
    WARM_UP = 0
    RUN = 1


@rule.example(*CALLS, module=True)
def bad_members():
    class Phased(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.phase = Phase.WARM_UP

        def forward(self, x):
            if self.phase is Phase.WARM_UP:
                x = x * 0.5
            self.phase = Phase.RUN  # BRK706
            return x + 1

    return Phased()


@rule.example(*CALLS, module=True)
def bad_tuple():
    class Placed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.place = (0, 1)

        def forward(self, x):
            row, column = self.place
            self.place = (row + 1, column)  # BRK706
            return x * row + column

    return Placed()
