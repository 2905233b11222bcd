"""Attribute access that a class takes from `dict` ends the graph.

Configuration classes are often dicts with dots: `class Config(dict): __getattr__ =
dict.__getitem__`. Dynamo runs a `__getattr__` that is written in Python; `dict.__getitem__` and
`dict.get` are C, and from torch 2.11 on the first `config.width` in the region ends the graph. The
function around it is not resumed there, and runs without a graph.

Write the method out, `def __getattr__(self, name): return self[name]`, and nothing else changes.
Better still, read the configuration in `__init__` and keep what `forward` needs as attributes of
the module.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import External, Method

rule = Rule("BRK531", "attribute-access-in-c", dynamo=("GB0256",), since="2.11")


@rule.on(Call, "object.__getattr__")
def check(event):
    _, getter = event.args
    if isinstance(getter, External | Method):
        name = event.receiver.cls.info.name
        yield event.graph_break(
            f"`{event.shown}` calls a `__getattr__` that `{name}` takes from C",
            help=f"write `def __getattr__(self, name): return self[name]` in `{name}`, or read the value in `__init__`",
            certainty="certain",
            skips="call",
        )


class Config(dict):
    __getattr__ = dict.__getitem__


CONFIG = Config(scale=2.0)


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x + 1
    return y * CONFIG.scale  # BRK531


class Options(dict):
    def __getattr__(self, name):
        return self[name]


OPTIONS = Options(scale=2.0)


@rule.becomes
def good(x):
    y = x + 1
    return y * OPTIONS.scale
