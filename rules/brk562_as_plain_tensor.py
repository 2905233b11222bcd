"""`x.as_subclass(torch.Tensor)` ends the graph.

Dynamo makes of a tensor one of another class when that is a subclass of `torch.Tensor`. The plain
class it refuses (GB0001), whatever the tensor's own class is, and a method of the class that does it
(`def tensor(self): return self.as_subclass(torch.Tensor)`) loses the whole function that calls it.

Keep the plain tensor beside the one of your class and compute with that inside of the region, or
take the class off before the region is entered: `model(points.as_subclass(torch.Tensor))`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import External

rule = Rule("BRK562", "as-plain-tensor", dynamo=("GB0001",), since="2.8")


@rule.on(Call, "Tensor.as_subclass")
def check(event):
    if event.argument(0, "cls") == External("torch.Tensor"):
        yield event.graph_break(
            f"`{event.shown}` takes a tensor's class off",
            help="take the class off before the region is entered, and hand over the plain tensor",
        )


class Points(torch.Tensor):
    pass


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((2,), torch.nan),))
def bad(x):
    points = x.as_subclass(Points)
    return points.as_subclass(torch.Tensor) + 1  # BRK562


@rule.becomes
def good(x):
    return x + 1
