"""Setting an attribute of a function inside the region ends the graph in torch before 2.15.

`attend.calls += 1` or `step.cache = y` keeps state on a function object. Dynamo reads such
attributes, with a guard, and replays stores to objects of classes, but not stores to a function
that was defined outside the region: the graph ends at each. A number that changes there also
compiles the region again. (Attributes of a function that is defined in the region itself are
traced.)

Keep the state on a module or an object, or pass it in and return it. What is only for debugging
belongs under `if not torch.compiler.is_compiling():`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK532",
    "function-attribute",
    dynamo=(r"GB0467: setattr\(\) is not supported on type function",),
    until="2.15",
)


@rule.on(Call, "function.__setattr__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` sets an attribute of a function",
        help="keep it on a module or an object, or pass it in and return it",
    )


def attend(x):
    return x.softmax(-1)


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = attend(x)
    attend.last = y  # BRK532
    return y + 1


class Attend:
    def __call__(self, x):
        return x.softmax(-1)


ATTEND = Attend()


@rule.becomes
def good(x):
    y = ATTEND(x)
    ATTEND.last = y
    return y + 1
