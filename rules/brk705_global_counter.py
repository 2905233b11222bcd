"""A global or captured Python number that changes in the region recompiles.

`global STEPS; STEPS += 1` works, and each new value fails the guard on the last one: the region is
compiled again in every call, until the recompile limit (8) is reached. A number captured by a
closure (`nonlocal count`) is compiled once more and then becomes an input of the graph.

Count in the code around the region, or keep a 0-d tensor and add to it in place (`COUNT.add_(1)`),
which is work in the graph.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, Py

rule = Rule(
    "BRK705",
    "global-counter",
    kind="recompile",
    severity="warning",
    dynamo=("global", "closure", "int_argument"),
)


@rule.on(Store, scope=("global", "nonlocal"))
def check(event):
    initial = event.initial
    number = (
        isinstance(initial, Const) and isinstance(initial.value, int | float | str)
    ) or isinstance(initial, Py)
    if not number or event.value.is_tensor or not (event.reads_itself or event.is_read):
        return
    if (
        isinstance(event.value, Const)
        and isinstance(initial, Const)
        and event.value.value == initial.value
    ):
        return
    if event.scope == "nonlocal" and since("2.15"):
        return  # the cell's number is no longer part of the guards
    often = "in every call" if event.scope == "global" else "once more"
    yield event.problem(
        f"the {event.scope} `{event.name}` is a Python value that changes in the region, so it is compiled {often}",
        help="change it outside the compiled region, or keep a 0-d tensor and add to it in place",
    )


CALLS = [lambda: (torch.ones(4),)] * 3
count = 0


@rule.example(*CALLS, dynamo=("global",))
def bad(x):
    global count
    count += 1  # BRK705
    return x + 1


@rule.becomes
def good(x):
    return x + 1


@rule.example(*CALLS, module=True, dynamo=("int_argument",))
def bad():
    count = 0

    def forward(x):
        nonlocal count
        count += 1  # BRK705
        return x + 1

    return forward
