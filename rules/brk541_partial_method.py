"""A `functools.partialmethod` called inside the region ends the graph.

`double = functools.partialmethod(scale, factor=2)` is a descriptor that binds the method when it is
read. Dynamo takes the function that comes out of it for an unbound one and calls it without `self`;
the call fails while it traces, and the function around it is skipped as a whole.

Write the method out: `def double(self, x): return self.scale(x, factor=2)`. A `functools.partial`
made in `__init__`, `self.double = functools.partial(self.scale, factor=2)`, is traced as well.
"""

import functools

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK541", "partial-method", shares=("GB0088",), since="2.8")


@rule.on(Call, "functools.partialmethod.__get__")
def check(event):
    yield event.problem(
        f"`{event.shown}` is a `functools.partialmethod`, which Dynamo does not bind, so the function that calls it is skipped as a whole",
        help="write the method out, or make a `functools.partial` in `__init__`",
        skips="call",
    )


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Net(torch.nn.Module):
        def scale(self, x, factor):
            return x * factor

        double = functools.partialmethod(scale, factor=2)

        def forward(self, x):
            y = x + 1
            return self.double(y)  # BRK541

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def scale(self, x, factor):
            return x * factor

        def double(self, x):
            return self.scale(x, factor=2)

        def forward(self, x):
            y = x + 1
            return self.double(y)

    return Net()
