"""The tensor that an operator gives: dtype, number of dimensions, shape."""

from __future__ import annotations

import ast

from breakscope.knowledge.ndim import product_ndim
from breakscope.rulekit.values import Tensor, Value, options
from breakscope.static.variables.base import BITWISE

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
    if dimensions in ([0], [1]) and any(o.is_unknown for v in (left, right) for o in options(v)):
        # a number leaves it as it is; a tensor gives it its own, as one does to which a bias is added
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


def _origin_of_result(left: Value, right: Value, tensors: list[Value]) -> str:
    origins = {t.origin for t in tensors}
    if origins == {"number"} and all(v.is_tensor or v.is_const for v in (left, right)):
        return "number"
    return "part" if origins == {"part"} else "op"
