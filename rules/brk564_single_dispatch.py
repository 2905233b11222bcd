"""A function under `functools.singledispatch` ends the graph.

Such a function picks its implementation by the class of its first argument, in code of the standard
library that keeps a cache under weak references. Up to torch 2.13 Dynamo does not follow that code:
the graph ends at the call, the choice is made eagerly, and the implementation that is chosen is
compiled by itself. `functools.singledispatchmethod` is the same. From torch 2.15 on it is traced.

Choose by `isinstance` in one function, or keep the implementations in a dict by class and take the
one for `type(value)`: Dynamo decides both while it traces.
"""

import functools

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK564", "single-dispatch", dynamo=("GB0811: class",), until="2.15")

WRAPPERS = ("functools.singledispatch.__call__", "functools.singledispatchmethod.__call__")


@rule.on(Call, WRAPPERS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` picks an implementation by `functools.singledispatch`, which Dynamo does not trace",
        help="choose by `isinstance` in one function, or from a dict by `type(value)`",
    )


@functools.singledispatch
def scaled(amount, x):
    return x


@scaled.register
def _(amount: int, x):
    return x * amount


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x + 1
    z = scaled(3, y)  # BRK564
    return z.relu()


def chosen(amount, x):
    return x * amount if isinstance(amount, int) else x


@rule.becomes
def good(x):
    y = x + 1
    z = chosen(3, y)
    return z.relu()
