"""A dict that gains keys in the region recompiles for each new key.

Dynamo guards the keys it looks up and, where the region stores a new one, the length of the dict. A
cache that is filled in the first call (`if n not in self.cache: self.cache[n] = ...`) compiles a
second time in the next call; a cache keyed by a size compiles once per size, and makes that size a
constant, so that dynamic shapes do not help.

Fill the cache in `__init__` for the sizes you know, or compute the value each time:
`torch.arange(n)` in the graph is fused away. To hand out features by name, return a dict made in
this call.
"""

import torch

from breakscope.rulekit.events import Mutate
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const
from breakscope.texts import shown_home

rule = Rule(
    "BRK704",
    "growing-dict",
    kind="recompile",
    severity="warning",
    dynamo=("container_length", "container_key"),
)


@rule.on(Mutate, method=("__setitem__", "setdefault", "update", "__ior__", "[]="), within="")
def check(event):
    key = event.key
    each = "once more" if isinstance(key, Const) else "once for each new key"
    yield event.problem(
        f"{shown_home(event.home)} gains keys inside the region and is guarded, so the region is compiled {each}",
        help="fill it in `__init__`, or return a dict made in this call",
    )


CALLS = [lambda: (torch.ones(2, 3),)] * 3


@rule.example(*CALLS, module=True, dynamo=("container_key",))
def bad():
    class Positions(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cache = {}

        def forward(self, x):
            n = x.shape[-1]
            if n not in self.cache:
                self.cache[n] = torch.arange(n)  # BRK704
            return x + self.cache[n]

    return Positions()


@rule.becomes
def good():
    class Positions(torch.nn.Module):
        def forward(self, x):
            n = x.shape[-1]
            return x + torch.arange(n)

    return Positions()


@rule.example(*CALLS, module=True, dynamo=("container_length",))
def bad():
    class Features(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features = {}

        def forward(self, x):
            y = x * 2
            self.features["last"] = y.detach()  # BRK704
            return y

    return Features()
