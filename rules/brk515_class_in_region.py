"""A class defined inside the region ends the graph.

Running a `class` statement makes a new type in every call. Dynamo does not trace the building of
classes, so it stops the graph there; every type test on such a class would also fail in the next
call.

Move the class to the module's top. If it needs values of the call, give them to its `__init__`.
"""

import torch

from breakscope.rulekit.events import Statement
from breakscope.rulekit.rule import Rule

rule = Rule("BRK515", "class-in-region", dynamo=("GB8977",))


@rule.on(Statement, construct="class")
def check(event):
    yield event.graph_break(
        f"class `{event.name}` is made anew in every call",
        help="move the class to the module's top",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x * 2

    class Result:  # BRK515
        pass

    return y + 1


class Result:
    pass


@rule.becomes
def good(x):
    y = x * 2
    return y + 1
