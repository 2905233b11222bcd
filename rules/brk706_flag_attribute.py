"""A flag that the region sets and reads recompiles once.

`if not self.ready: ...; self.ready = True` is decided while Dynamo traces, with a guard on the
flag. The next call finds the other value and compiles the other path. It happens once for each
value, but it doubles the compile time. `self.even = not self.even` does the same in turns.

Do what the first call does in `__init__`, or in a method that the caller calls once before
compiling. A flag that must change with the data is a 0-d bool buffer and a `torch.where`.
"""

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const

rule = Rule("BRK706", "flag-attribute", kind="recompile", severity="warning", dynamo=("attribute",))


@rule.on(Store, scope="attribute", is_read=True)
def check(event):
    new, first = event.value, event.initial
    if (
        not isinstance(new, Const)
        or not isinstance(first, Const)
        or type(new.value) is not type(first.value)
    ):
        return
    if event.reads_itself and type(new.value) is not bool:
        return  # a counter
    if new.value != first.value:
        yield event.problem(
            f"`{event.owner}.{event.name}` is {first.value!r} at first, then {new.value!r}, so it is compiled again",
            help="do the first call's work in `__init__`, or set it outside the compiled region",
            certainty="likely",
        )


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
