"""A flag or a mode that varies between calls compiles one graph for each value.

A bool, a string or an enum member as an argument picks the Python path through the region. Dynamo
guards the value and compiles each path when it first meets it. That is often right (training and
evaluation differ), and it is bounded by the number of values; but two flags make four graphs, and a
string made from data makes one in every call.

Keep flags that are fixed for a run on the module, set in `__init__`. Where the paths differ little,
compute both and return both; or give each mode its own method and compile it by itself.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.numbers.advice import OWN
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK710",
    "flag-argument",
    kind="recompile",
    severity="warning",
    dynamo=("bool_argument", "str_argument", "enum_argument", "object_identity"),
)


@rule.on(Varies, what=("bool", "str", "enum"))
def check(event):
    kind = {"bool": "a flag", "str": "a string", "enum": "an enum member"}[event.what]
    yield event.problem(
        f"`{event.name}` is {kind} that varies between calls{event.seen}; each value is compiled by itself",
        help=OWN
        if event.name.startswith("self.")
        else "fix it in `__init__`, or give each mode its own method",
    )


def calls():
    return [(torch.ones(2, 4), reduction) for reduction in ("mean", "sum", "mean")]


@rule.example(calls=calls, dynamo=("str_argument",))
def bad(x, reduction):
    y = x * x
    if reduction == "mean":  # BRK710
        return y.mean()
    return y.sum()
