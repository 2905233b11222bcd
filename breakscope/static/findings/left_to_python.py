"""What a function that Dynamo leaves to Python gives back, where that is another one in each call."""

from __future__ import annotations

from collections.abc import Iterator

from breakscope import limits
from breakscope.rulekit.events import Call
from breakscope.rulekit.values import Dict, Py, Scalar, Sequence, Tensor, Value, options
from breakscope.static.interpreter.calls.disabled import DISABLED
from breakscope.static.variables.tensors.sizes import DrawnSize

WHAT = {"int": "number", "float": "number", "number": "number", "str": "choice"}


def read_in(event: Call) -> str:
    """The word for numbers that the function reads from tensors, and for tensors that are as long as their values
    make them; "" for anything else."""
    for value in _given_back(event):
        if type(value) is Scalar and value.type != "bool":
            return "number"
        if type(value) is Tensor and any(type(size) is DrawnSize for size in value.shape or ()):
            return "size"
    return ""


def drawn_in(event: Call) -> str:
    """The word for numbers and texts that the function draws, counts, or reads from a clock; "" for anything else."""
    drawn = [v for v in _given_back(event) if type(v) is Py and v.is_drawn and v.type in WHAT]
    return WHAT[drawn[0].type] if drawn else ""


def _given_back(event: Call) -> Iterator[Value]:
    if event.name == DISABLED and event.result is not None:
        yield from _parts(event.result, limits.DEEPEST_TENSOR_SEARCH)


def _parts(value: Value, depth: int) -> Iterator[Value]:
    """The value, or what a container has, or what may be there instead."""
    if isinstance(value, Sequence | Dict) and depth:
        items = value.items or ()
        for item in items.values() if isinstance(items, dict) else items:
            yield from _parts(item, depth - 1)
    else:
        yield from options(value)
