"""The tensor that an operator gives: dtype, number of dimensions, shape."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.knowledge.ndim import product_ndim
from breakscope.rulekit.values import Tensor, Value, options
from breakscope.static.variables.base import BITWISE
from breakscope.static.variables.tensors.creation import PRECISIONS

OF_MASKS = (ast.Add, ast.Mult)  # of two masks these are `or` and `and`


def tensor_operator(left: Value, right: Value, op: type) -> Value:
    """`left op right`, one of which is a tensor."""
    tensors = [v for v in (left, right) if v.is_tensor]
    dtypes = {t.dtype for t in tensors}
    dtype = None
    is_guess = dtypes == {"bool", None} and op in BITWISE
    if is_guess or (
        dtypes == {"bool"} and (op in BITWISE or (op in OF_MASKS and len(tensors) == 2))
    ):
        dtype = "bool"
    elif op is ast.Div or "float" in dtypes:
        dtype = "float" if op is ast.Div or len(dtypes) == 1 else None
    elif dtypes == {"int"} and all(
        v.is_tensor or (v.is_const and isinstance(v.value, int)) or v.is_shape
        for v in (left, right)
    ):
        dtype = "int"
    dimensions = [t.ndim for t in tensors]
    shapes = {t.shape for t in tensors}
    if dimensions == [0] and any(o.is_unknown for v in (left, right) for o in options(v)):
        # a number leaves it as it is, a tensor gives it its own
        dimensions, shapes = [None], {None}
    return Tensor(
        dtype,
        None
        if None in dimensions
        else product_ndim(*dimensions)
        if op is ast.MatMult and len(dimensions) == 2
        else max(dimensions),
        shapes.pop() if len(shapes) == 1 and op is not ast.MatMult else None,
        not is_guess and all(t.sure for t in tensors),
        "subclass" if any(t.kind == "subclass" for t in tensors) else tensors[0].kind_of_result,
        _origin_of_result(left, right, tensors),
        requires_grad=False if all(t.requires_grad is False for t in tensors) else None,
    )


def kept_precision(result: Tensor, left: Value, right: Value) -> Tensor:
    """Outside of regions: with the kind of the tensors where it is that of all, as `positions += 1` leaves int32."""
    kinds = {(v.kind, v.dtype) for v in (left, right) if type(v) is Tensor}
    kind, dtype = kinds.pop() if len(kinds) == 1 else ("", None)
    is_precise = kind in PRECISIONS and dtype == result.dtype and not result.kind
    return replace(result, kind=kind) if is_precise else result


def joined_precision(made: Tensor, parts: list[Value]) -> Tensor:
    """Outside of regions: with the kind of what is joined, or of no known type where one is of half precision, or of
    narrow whole numbers, and not all are."""
    kinds = {part.kind if type(part) is Tensor else "" for part in parts} | {made.kind}
    if kinds.isdisjoint(PRECISIONS):
        return made
    kinds.discard("")
    is_one = len(kinds) == 1 and all(type(part) is Tensor and part.kind for part in parts)
    return replace(made, kind=kinds.pop()) if is_one else replace(made, dtype=None)


def _origin_of_result(left: Value, right: Value, tensors: list[Value]) -> str:
    origins = {t.origin for t in tensors}
    if origins == {"number"} and all(v.is_tensor or v.is_const for v in (left, right)):
        return "number"
    return "part" if origins == {"part"} else "op"
