"""A property read through `super()` cannot be computed with.

`super().scale` calls the property of a parent class. Dynamo does not: it keeps the property itself
in place of its value, and where that meets an operator, an item, an attribute, a comparison or a
torch function, the graph ends, often with the whole function skipped. Handing the value on, and
comparing it with `None` by `is`, is traced; so are methods called through `super()`, plain class
attributes, and `self.scale`.

Put the computation into a method, which the property and its override both call.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK553",
    "super-property",
    dynamo=("GB0156: class `property`",),
    shares=("GB0055", "GB0088", "GB6215"),
)


@rule.on(Call, "super().property")
def check(event):
    yield event.problem(
        f"`{event.shown}` is the property `{event.args[0].value}` of a parent class, which Dynamo does not call through "
        "`super()`, so the graph ends where it is used",
        help="compute it in a method, and call that with `super()`",
    )


class Scaled(torch.nn.Module):
    def compute_scale(self):
        return 2.0

    @property
    def scale(self):
        return self.compute_scale()


@rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),), module=True, dynamo=("GB0055",))
def bad():
    class Doubled(Scaled):
        def forward(self, x):
            return x * super().scale  # BRK553

    return Doubled()


@rule.becomes
def good():
    class Doubled(Scaled):
        def forward(self, x):
            return x * super().compute_scale()

    return Doubled()
