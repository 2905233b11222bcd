"""The first read of a `functools.cached_property` inside the region ends the graph.

Before Python 3.12 it takes a lock around the first computation, and Dynamo enters no lock. From the
second read on the value is an ordinary attribute, so the break is paid once for each object; but
Dynamo does not resume in the read of an attribute, so the function that reads it is skipped as a
whole. Python 3.12 took the lock out.

Read the property once in `__init__` (or before the model is compiled), write a plain `property`, or
compute the value where the object is made.
"""

import functools

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK524", "cached-property", dynamo=("GB0142: RLock",), severity="warning", until_python="3.12"
)


@rule.on(Call, "functools.cached_property.__get__")
def check(event):
    yield event.problem(
        f"the first read of the cached property `{event.shown}` takes a lock, which Dynamo does not enter",
        help="read it once before the model is compiled, or make it a plain property",
        once=(id(event.receiver), event.args),
        skips="implicit",
    )


class Sizes:
    width = 4

    @functools.cached_property
    def double(self):
        return self.width * 2


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sizes = Sizes()

        def forward(self, x):
            return x * self.sizes.double  # BRK524

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sizes = Sizes()
            self.width = self.sizes.double

        def forward(self, x):
            return x * self.width

    return Net()
