"""A comprehension that sets a variable of the function around it, `:=`, ends the graph.

Before Python 3.12 a list, set or dict comprehension is a function of its own, and the variable that `:=` sets in it
belongs to the function around it. Dynamo inlines the comprehension and finds the variable's cell empty ("Read
uninitialized cell"), so the graph ends at the comprehension, which Python runs; inside of a loop the whole function is
skipped. A generator expression is traced, and so is a comprehension whose variable had a value before.

Write the comprehension as a loop, or give the variable a value before it: `y = None`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK115", "walrus-in-comprehension", dynamo=("GB0091",), until_python="3.12")


@rule.on(Call, "first assignment of a variable in a comprehension")
def check(event):
    name = event.node.target.id
    yield event.graph_break(
        f"`{event.shown}` sets `{name}` of the function around the comprehension, where Dynamo finds nothing yet",
        help=f"write a loop, or `{name} = None` before the comprehension",
    )


@rule.example(lambda: ([torch.ones(2), torch.ones(1, 2)],))
def bad(rows):
    kept = [y for row in rows if (y := row.relu()).dim() == 1]  # BRK115
    return kept[0] + 1


@rule.becomes
def good(rows):
    y = None
    kept = [y for row in rows if (y := row.relu()).dim() == 1]
    return kept[0] + 1
