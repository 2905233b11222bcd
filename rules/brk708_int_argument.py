"""A Python int argument that varies recompiles.

Dynamo makes an int argument a constant of the graph and guards its value. The second value costs a
compile that turns it into a symbol (as sizes are); 0 and 1, and an int that decides a branch, the
length of a loop or an index, stay constants, and each new value is a new graph, up to the recompile
limit (8).

Pass a number that is only computed with as a 0-d tensor: `torch.tensor(step)`. It then is an input of
the graph like any other. Of a size, an index or the bound of a slice, `torch.compile(dynamic=True)`
makes a symbol from the start. What counts a loop or decides a branch needs a graph for each value:
keep it to a few, or test and count outside of the compiled region.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.numbers.advice import of_argument
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK708",
    "int-argument",
    kind="recompile",
    severity="warning",
    dynamo=("int_argument", "attribute"),
)


@rule.on(Varies, what="int")
def check(event):
    again = (
        "each new value is a new graph"
        if event.use in ("branch", "value")
        else "the second value compiles again"
    )
    yield event.problem(
        f"`{event.name}` is a Python int that varies between calls{event.seen}; its value is guarded, so {again}",
        help=of_argument(event.name, event.use),
    )


def calls():
    return [(torch.ones(4), step) for step in (5, 6, 7)]


@rule.example(calls=calls, dynamo=("int_argument",))
def bad(x, step):
    return x + step  # BRK708


class Step:
    def __init__(self, number):
        self.number = number


def steps():
    return [(torch.ones(4), Step(2)), (torch.ones(4), Step(3)), (torch.ones(4), Step(4))]


@rule.example(calls=steps, dynamo=("attribute",))
def bad_attribute(x, step):
    return x * step.number  # BRK708
