"""A regular expression that was not compiled before ends the graph in torch before 2.13.

`re.match(pattern, text)` compiles the pattern at its first use, in Python code that Dynamo before
2.13 follows into and cannot finish (it meets enum flags and C sets there). When the same pattern
was compiled earlier, `re` finds it in its cache and nothing breaks: the finding is therefore only
likely. torch 2.13 runs `re` on constants while it traces.

Compile the pattern at the top of the module and use its methods: `PATTERN = re.compile(...)`, then
`PATTERN.match(name)`. Better still, decide by names in `__init__` and keep the answer.
"""

import re

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK526",
    "regular-expression",
    until="2.13",
    dynamo=("GB0023", "GB0007: `_?sre", "GB0156: class `frozenset`"),
)

FUNCTIONS = {
    f"re.{name}"
    for name in "compile match fullmatch search sub subn split findall finditer".split()
}


@rule.on(Call, FUNCTIONS)
def check(event):
    yield event.problem(
        f"`{event.shown}` compiles its pattern inside the region, so the graph ends here unless that was done before",
        help="compile the pattern at the module's top with `re.compile` and use its methods",
        certainty="likely",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0023",))
def bad(x):
    if re.match(r"layer_\d+", "layer_1"):  # BRK526
        x = x * 2
    return x + 1


LAYER = re.compile(r"layer_\d+")


@rule.becomes
def good(x):
    if LAYER.match("layer_1"):
        x = x * 2
    return x + 1
