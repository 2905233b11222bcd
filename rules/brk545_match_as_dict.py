"""`groupdict()` of a match and `finditer()` of a pattern end the graph.

From torch 2.13 on Dynamo runs regular expressions on constants while it traces, when what comes
back is a constant: text, numbers, tuples and lists of them. The dict of `match.groupdict()` and the
iterator of `pattern.finditer(...)` are none.

Take the groups by name, `match.group("major")` or `match["major"]`, or all as a tuple,
`match.groups()`; `findall` gives a list. What is read of a version or of a name of a layer does not
change: read it at the module's top or in `__init__`.
"""

import re

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK545", "match-as-dict", dynamo=("GB0292: re",), shares=("GB0092", "GB0811"), since="2.13"
)


@rule.on(Call, ("re.Match.groupdict", "re.Pattern.finditer", "re.finditer"))
def check(event):
    yield event.graph_break(
        f"Dynamo cannot take what `{event.shown}` returns for a constant",
        help="use `match.group(name)`, `match.groups()` or `findall`, or do it once in `__init__`",
    )


NUMBER = re.compile(r"\d+")


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0292", "GB0811"))
def bad(x):
    y = x * 2
    numbers = list(NUMBER.finditer("1.10"))  # BRK545
    return y * len(numbers)


@rule.becomes
def good(x):
    y = x * 2
    numbers = NUMBER.findall("1.10")
    return y * len(numbers)
