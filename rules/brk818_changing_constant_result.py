"""A function under `assume_constant_result` reads what changes: its first answer stays for good.

Dynamo calls such a function once while it compiles, and puts the result into the graph as a
constant, with no guard on what the function looked at. A clock, a random number, an attribute or a
global that is set later is frozen at its first value: the compiled code computes something else
than the eager code.

Take the decorator off, or pass what changes as an argument of the compiled function. What depends
on the function's own number arguments is safe: they are guarded.
"""

import random

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Frozen

rule = Rule("BRK818", "changing-constant-result", kind="usage", severity="error")

WHAT = {
    "random": "`{0}` gives another number each time",
    "clock": "`{0}` gives another time each time",
    "attribute": "`{0}` is set by another method",
    "global": "`{0}` is set by a function",
}


@rule.on(Frozen)
def check(event):
    yield event.problem(
        f"{WHAT[event.what].format(event.name)}, but `assume_constant_result` keeps the first answer",
        help="remove `assume_constant_result`, or pass the value to the compiled function as an argument",
    )


@rule.program(shows={"returns": [1.0, 1.0]}, instead={"returns": [1.0, 5.0]})
def bad():
    class Grown:
        def __init__(self):
            self.factor = 1.0

        def grow(self):
            self.factor = 5.0

        @torch.compiler.assume_constant_result
        def current(self):
            return self.factor  # BRK818

    grown = Grown()
    run = torch.compile(lambda x: x * grown.current(), backend="eager")
    first = run(torch.ones(())).item()
    grown.grow()
    return [first, run(torch.ones(())).item()]


@rule.becomes
def good():
    class Grown:
        def __init__(self):
            self.factor = torch.tensor(1.0)

        def grow(self):
            self.factor = torch.tensor(5.0)

        def current(self):
            return self.factor

    grown = Grown()
    run = torch.compile(lambda x: x * grown.current(), backend="eager")
    first = run(torch.ones(())).item()
    grown.grow()
    return [first, run(torch.ones(())).item()]


@rule.program(shows={"returns": 1}, instead={"returns": 3})
def bad_random():
    @torch.compiler.assume_constant_result
    def draw():
        return random.random()  # BRK818

    run = torch.compile(lambda x: x * draw(), backend="eager")
    return len({run(torch.ones(())).item() for _ in range(3)})


@rule.becomes
def good_random():
    run = torch.compile(lambda x, number: x * number, backend="eager")  # BRK709
    return len({run(torch.ones(()), random.random()).item() for _ in range(3)})
