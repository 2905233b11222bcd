"""Attribute access that a class takes from `dict` ends the graph.

Configuration classes are often dicts with dots: `class Config(dict): __getattr__ =
dict.__getitem__`. Dynamo runs a `__getattr__` that is written in Python; `dict.__getitem__` and
`dict.get` are C, and from torch 2.11 on the first `config.width` in the region ends the graph. The
function around it is not resumed there, and is skipped as a whole.

`object.__getattribute__(self, name)`, which some classes call to go around their own
`__getattr__`, is C too, and ends the graph wherever it is called by that name.

Write the method out, `def __getattr__(self, name): return self[name]`, and nothing else changes.
Write `super().__getattribute__(name)`, or `self.__dict__[name]`, in place of
`object.__getattribute__(self, name)`. Better still, read the configuration in `__init__` and keep what `forward` needs as attributes of
the module.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import External, Method

rule = Rule(
    "BRK531",
    "attribute-access-in-c",
    dynamo=("GB0256", "GB0156: method `__getattribute__`"),
    since="2.11",
)


@rule.on(Call, "object.__getattr__")
def check(event):
    getter = event.args[1] if event.receiver is not None else None
    if isinstance(getter, External | Method):
        name = event.receiver.cls.info.name
        yield event.graph_break(
            f"`{event.shown}` calls a `__getattr__` that `{name}` takes from C",
            help=f"write `def __getattr__(self, name): return self[name]` in `{name}`, or read the value in `__init__`",
            certainty="certain",
            skips="call",
        )


@rule.on(Call, "object.__getattribute__")
def check_by_name(event):
    yield event.problem(
        f"Dynamo does not trace `object.__getattribute__`, so the graph ends at `{event.shown}`",
        help="write `super().__getattribute__(name)` or `self.__dict__[name]`",
    )


class Config(dict):
    __getattr__ = dict.__getitem__


CONFIG = Config(scale=2.0)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0256",))
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


class Plain:
    def __init__(self):
        self.scale = 2.0


PLAIN = Plain()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_by_name(x):
    y = x + 1
    return y * object.__getattribute__(PLAIN, "scale")  # BRK531


@rule.becomes
def good_by_name(x):
    y = x + 1
    return y * PLAIN.__dict__["scale"]
