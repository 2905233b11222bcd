"""Python that needs the value of a traced random number ends the graph.

Dynamo keeps the number of `random.uniform`, `random.randint` and `random.randrange` as a tensor in
the graph, so that each call draws again. `x * number` is fine. Whatever needs the number itself is
not: `if random.uniform(0, 1) < p`, arithmetic between it and another Python number (`i + size`),
`x[i]`, `x[:n]`, `layers[i]`, `range(n)`, `int(...)`, a size or a dimension (`torch.arange(n)`, `x.roll(n)`).

Draw with torch and stay with tensors: `torch.rand(()) < p` and `torch.where` for a decision,
`torch.randint` and `torch.index_select` or `torch.narrow` by a tensor for a place. Or draw outside
the region and pass the number in as a tensor. Scale before drawing: `random.uniform(0.8, 1.2)`
rather than `random.uniform(0, 1) * 0.4 + 0.8`.
"""

import random

import torch

from breakscope.rulekit.events import Branch, ScalarRead
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Py

rule = Rule("BRK410", "random-number-decides", dynamo=("GB0213",), shares=("GB0170", "GB0033"))


@rule.on(Branch)
def check(event):
    if isinstance(event.test, Py) and event.test.source == "draw":
        yield event.problem(
            f"`{event.shown}` needs the value of a random number that Dynamo keeps in the graph, so the graph ends",
            help="decide with `torch.rand(())` and `torch.where`, or draw outside the compiled region",
        )


@rule.on(ScalarRead, how=("draw", "slice by draw"))
def check_use(event):
    yield event.graph_break(
        f"`{event.shown}` needs the value of a random number that Dynamo keeps in the graph",
        help="draw the number as it is used (`random.uniform(0.8, 1.2)`), or with torch, or outside the region",
        skips="call" if event.how == "slice by draw" else "",
    )


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0170",))
def bad(x):
    if random.uniform(0, 1) < 0.5:  # BRK410
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    x = torch.where(torch.rand(()) < 0.5, x * 2, x)
    return x + 1


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0213",))
def bad(x):
    scale = random.uniform(0, 1) * 0.4 + 0.8  # BRK410
    return x * scale


@rule.becomes
def good(x):
    scale = random.uniform(0.8, 1.2)
    return x * scale
