"""Functions that are given the dimensions of their result as text: `torch.einsum` and those of einops."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from msgspec import Struct

from breakscope.rulekit.values import UNKNOWN, Sequence, Tensor, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of
from breakscope.static.machine.machine import Machine

GROUP = re.compile(r"\([^()]*\)")  # axes that einops keeps as one


class Axes(Struct, frozen=True):
    """The dimensions that one side of a pattern names; `is_open` where it has an ellipsis too."""

    count: int
    is_open: bool


def einsum_result(args: list[Value]) -> Tensor:
    """What `torch.einsum(equation, *tensors)` returns."""
    operands = args[1:]
    if len(operands) == 1 and isinstance(operands[0], Sequence):
        operands = operands[0].items or [element_of(operands[0])]
    equation = args[0].value if args and args[0].is_const else None
    return _result(equation, operands, _letters)


def call_einops_einsum(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    pattern = args[-1].value if args and args[-1].is_const else None
    return _result(pattern, args[:-1], _words)


def call_rearranged(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    """`rearrange`, `reduce` and `repeat` of a tensor, or of a list of them, which is a first axis."""
    given = args[0] if args else kwargs.get("tensor", UNKNOWN)
    if isinstance(given, Sequence):
        element = element_of(given)
        given = Tensor(sure=False)
        if type(element) is Tensor:
            more = None if element.ndim is None else element.ndim + 1
            given = Tensor(element.dtype, more, sure=element.sure)
    pattern = args[1] if len(args) > 1 else kwargs.get("pattern", UNKNOWN)
    return _result(pattern.value if pattern.is_const else None, [given], _words)


def call_packed(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    """`packed, shapes = einops.pack(tensors, "b * d")`."""
    pattern = args[1] if len(args) > 1 else UNKNOWN
    ndim = len(pattern.value.split()) if type(getattr(pattern, "value", None)) is str else None
    element = element_of(args[0]) if args and isinstance(args[0], Sequence) else UNKNOWN
    dtype = element.dtype if type(element) is Tensor else None
    return Sequence(
        "tuple", [Tensor(dtype, ndim, sure=element.is_tensor), Sequence("list", None, UNKNOWN)]
    )


EINOPS = {
    "einops.rearrange": call_rearranged,
    "einops.reduce": call_rearranged,
    "einops.repeat": call_rearranged,
    "einops.einsum": call_einops_einsum,
    "einops.pack": call_packed,
}


def _result(pattern: object, operands: list[Value], axes_of: Callable[[str], Axes]) -> Tensor:
    tensors = [operand for operand in operands if type(operand) is Tensor]
    dtypes = {tensor.dtype for tensor in tensors}
    return Tensor(
        dtypes.pop() if len(dtypes) == 1 else None,
        _ndim(pattern, operands, axes_of) if isinstance(pattern, str) else None,
        None,
        bool(tensors) and all([tensor.sure for tensor in tensors]),
        tensors[0].kind_of_result if tensors else "",
    )


def _ndim(pattern: str, operands: list[Value], axes_of: Callable[[str], Axes]) -> int | None:
    """The number of dimensions behind the arrow; an ellipsis stands for those that its operands have
    and do not name."""
    before, arrow, after = pattern.partition("->")
    if not arrow:
        return None
    made = axes_of(after)
    if not made.is_open:
        return made.count
    terms = [axes_of(term) for term in before.split(",")]
    if len(terms) != len(operands):
        return None
    more = [_more(term, operand) for term, operand in zip(terms, operands) if term.is_open]
    return None if None in more or not more else made.count + max(more)


def _more(term: Axes, operand: Value) -> int | None:
    known = type(operand) is Tensor and operand.ndim is not None
    return max(operand.ndim - term.count, 0) if known else None


def _letters(side: str) -> Axes:
    """Of an equation: each letter is a dimension."""
    named = side.replace("...", "")
    return Axes(sum(map(str.isalpha, named)), named != side)


def _words(side: str) -> Axes:
    """Of an einops pattern: each word is a dimension, and so are several in parentheses."""
    words = GROUP.sub(" group ", side).split()
    return Axes(len(words) - words.count("..."), "..." in words)
