"""An attribute that an OrderedDict's own `__setitem__` sets is missing when a region makes the object.

A class such as

    class Output(OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            super().__setattr__(key, value)

answers `out.loss` as well as `out["loss"]`. In eager mode the constructor of OrderedDict puts all
that it is given through `__setitem__`. Dynamo fills the object without calling it: the items are
there, the attributes are not. Reading one raises an AttributeError inside of the trace, so that the
whole function is skipped; a function called in it that makes the object is compiled by itself, and
hands out one that lacks the attribute.

Make the object empty and store the items, `out = Output()` and `out["loss"] = loss`: Dynamo does call
`__setitem__` for these.
"""

from collections import OrderedDict

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK568", "attribute-of-ordered-dict", shares=("GB0088",), since="2.13")


@rule.on(Call, "attribute of an own OrderedDict")
def check(event):
    name = event.receiver.cls.info.name
    yield event.problem(
        f"`{event.shown}` is set by `__setitem__` of `{name}`, which Dynamo does not call for what the constructor "
        "is given, so the attribute is missing and the function is skipped as a whole",
        help=f"make the object empty, `{name}()`, and store each item, `output[key] = value`",
        skips="call",
    )


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Output(OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            super().__setattr__(key, value)

    def forward(x):
        output = Output(mean=x * 2)
        return output.mean + 1  # BRK568

    return forward


@rule.becomes
def good():
    class Output(OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            super().__setattr__(key, value)

    def forward(x):
        output = Output()
        output["mean"] = x * 2
        return output.mean + 1

    return forward
