"""A method of `str` or `int` on a member of an enum ends the graph.

Members of `class Mode(str, Enum)`, `StrEnum` and `IntEnum` are texts and numbers: comparing, adding, formatting
and looking them up is traced. But Dynamo does not run what their class has from C: `mode.lower()`,
`mode.startswith("a")`, `level.bit_length()`. What a class defines itself in Python is followed.

Ask the value: `mode.value.lower()`, or compare with the members, `mode is Mode.LOW`.
"""

import enum

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK572", "text-method-of-enum", shares=("GB0156",))

METHODS = {
    f"enum.{name}"
    for type_ in (str, int)
    for name, member in vars(type_).items()
    if not name.startswith("_") and callable(member)
}


@rule.on(Call, METHODS)
def check(event):
    method = event.name.rpartition(".")[2]
    yield event.graph_break(
        f"`{event.shown}` calls a method in C of an enum's member, which Dynamo does not trace",
        help=f"ask its value: `.value.{method}(...)`",
        certainty="likely",
    )


class Mode(enum.StrEnum):
    LOW = "low"
    HIGH = "high"


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad(x):
    y = x * 2
    if Mode.HIGH.startswith("hi"):  # BRK572
        y = y + 1
    return y


@rule.becomes
def good(x):
    y = x * 2
    if Mode.HIGH.value.startswith("hi"):
        y = y + 1
    return y
