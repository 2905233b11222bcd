"""A function under `functools.singledispatch` ends the graph when it is called with a constant.

Such a function picks its implementation by the class of its first argument, in code of the standard
library that keeps a cache under weak references. Up to torch 2.13 Dynamo does not follow that code:
the graph ends at the call, the choice is made eagerly, and the implementation that is chosen is
compiled by itself. `functools.singledispatchmethod` is the same. So it is for numbers, texts, None,
dtypes, classes, and lists of these; for a tensor, a module, an object of a class of your own and a
container with one of them the choice is traced. From torch 2.15 on all of it is.

Choose by `isinstance` in one function, or keep the implementations in a dict by class and take the
one for `type(value)`: Dynamo decides both while it traces.
"""

import functools

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, External, Py, Sequence, ShapeInt

rule = Rule("BRK564", "single-dispatch", dynamo=("GB0811: class",), until="2.15")

WRAPPERS = ("functools.singledispatch.__call__", "functools.singledispatchmethod.__call__")


@rule.on(Call, WRAPPERS)
def check(event):
    if not event.args or not is_constant(event.args[0]):
        return
    yield event.graph_break(
        f"`{event.shown}` picks an implementation by `functools.singledispatch`, which Dynamo does not trace",
        help="choose by `isinstance` in one function, or from a dict by `type(value)`",
    )


def is_constant(value):
    """True for what is a constant while Dynamo traces."""
    if isinstance(value, Py):
        return value.type in ("int", "float", "bool", "str", "number", "device")
    if isinstance(value, Sequence) and value.type in ("list", "tuple", "set"):
        return value.items is not None and all(map(is_constant, value.items))
    return isinstance(value, Const | ShapeInt | External)


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    @functools.singledispatch
    def scaled(amount, x):
        return x

    @scaled.register
    def _(amount: int, x):
        return x * amount

    class Net(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            z = scaled(3, y)  # BRK564
            return z.relu()

    return Net()


@rule.becomes
def good():
    def chosen(amount, x):
        return x * amount if isinstance(amount, int) else x

    class Net(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            z = chosen(3, y)
            return z.relu()

    return Net()
