"""Some subclasses of `torch.Tensor` cannot be made inside the region.

Dynamo makes a subclass by tracing its `__new__`, and then calls `__init__` with the keyword
arguments only: one that needs more ends the graph (GB7312). Without a `__new__` of its own it is
made of one tensor and nothing else (GB0026). `torch.Tensor._make_wrapper_subclass` is not traced
(GB0007), unless the class has `__tensor_flatten__` and `__tensor_unflatten__`: then making it is one
call in the graph, whose arguments must be such as the graph can hold. An object of a class of your
own is none (GB0055), a frozen dataclass is.

Hand all arguments over by keyword, make the class of what you hand over a frozen dataclass, or make
the tensor before the compiled region.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK561", "tensor-subclass", dynamo=("GB0026",), shares=("GB7312", "GB0055", "GB0007"))

WHY = {
    "default": (
        "is made of something other than one tensor",
        "make it of one tensor: `x.as_subclass(...)`",
    ),
    "init": (
        "needs positional arguments, which Dynamo does not hand to the `__init__` of a tensor subclass",
        "hand all arguments over by keyword",
    ),
    "object": (
        "is handed an object that the graph cannot hold",
        "make that object's class a dataclass with `frozen=True`, or hand over numbers, texts and tensors",
    ),
}


@rule.on(Call, "torch.Tensor subclass()")
def check(event):
    what, help = WHY[event.args[0].value]
    yield event.graph_break(f"the tensor subclass `{event.shown}` {what}", help=help)


@rule.on(Call, "torch.Tensor._make_wrapper_subclass")
def check_wrapper(event):
    yield event.graph_break(
        "`torch.Tensor._make_wrapper_subclass` is C code that Dynamo does not trace",
        help="make the tensor before the compiled region, or give the class `__tensor_flatten__` and `__tensor_unflatten__`",
    )


class Tagged(torch.Tensor):
    @staticmethod
    def __new__(cls, data, tag):
        return torch.Tensor._make_subclass(cls, data)

    def __init__(self, data, tag):
        self.tag = tag


class Plain(torch.Tensor):
    pass


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB7312",))
def bad():
    def model(x):
        return Tagged(x, "a") * 2  # BRK561

    return model


@rule.becomes
def good():
    def model(x):
        return Tagged(data=x, tag="a") * 2

    return model


@rule.example(lambda: (torch.ones(2),), module=True, dynamo=("GB0026",))
def bad_default():
    def model(x):
        return Plain([1.0, 2.0]) * x  # BRK561

    return model


@rule.becomes
def good_default():
    def model(x):
        return torch.tensor([1.0, 2.0]).as_subclass(Plain) * x

    return model
