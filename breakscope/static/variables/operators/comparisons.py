"""Comparisons: `==`, `<`, `is`, `in` and the like."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    BOOL,
    COMPARED,
    Const,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import ADDRESS, VERSION_INFO
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call, emit_drawn
from breakscope.static.variables.library.evaluated import evaluated_operator

_COMPARES = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def compare_values(
    machine: Machine,
    left: Value,
    right: Value,
    op: type,
    right_node: ast.expr,
    node: ast.Compare,
    frame: Frame,
) -> Value:
    """`left op right`, where `op` is the class of any comparison's operator."""
    if op in (ast.In, ast.NotIn):
        if (
            left.is_tensor
            and isinstance(right, Sequence)
            and right.type in ("list", "tuple")
            and right.items != []
            and op is ast.In
        ):
            return Tensor("bool", 0, (), left.sure)  # compared with each element in the graph
        if type(right) is not Tensor:
            emit_drawn(machine, (left,), node, frame)
        found = machine.contains(right, left, right_node, node, frame)
        return BOOL if found is None else Const(found == (op is ast.In))
    if op in (ast.Is, ast.IsNot):
        same = are_identical(machine, left, right)
        return BOOL if same is None else Const(same == (op is ast.Is))
    return compare_by_value(machine, left, right, op, node, frame)


def compare_by_value(
    machine: Machine, left: Value, right: Value, op: type, node: ast.AST, frame: Frame
) -> Value:
    """`left op right` for `==`, `<` and the like."""
    if left is VERSION_INFO:
        emit_call(machine, "sys.version_info.__lt__", None, (), {}, node, frame)
    if left is ADDRESS or right is ADDRESS:
        emit_call(machine, "Tensor.data_ptr.__eq__", None, (left, right), {}, node, frame)
    if type(left) is Sequence or type(right) is Sequence:
        found = evaluated_operator(machine, left, right, op, node, frame)
        if found is not None:
            return found
    decides, other = machine.behaviour(left), machine.behaviour(right)
    if other.compare_precedence > decides.compare_precedence:
        decides = other
    return decides.compare(machine, left, right, op, node, frame)


def are_identical(machine: Machine, left: Value, right: Value) -> bool | None:
    """`left is right`, None when not known."""
    if left.is_unknown or right.is_unknown:
        return None
    if type(left) is Union or type(right) is Union:
        verdicts = {are_identical(machine, a, b) for a in options(left) for b in options(right)}
        return verdicts.pop() if len(verdicts) == 1 else None
    if left.is_none or right.is_none:
        other = right if left.is_none else left
        if isinstance(other, Py) and other.type in ("object", "unknown"):
            return None
        return left.is_none and right.is_none
    return machine.behaviour(left).identical(left, right)


def open_comparison(left: Value, right: Value, op: type) -> Value:
    """The bool of a comparison that is not known, with what it is by default where
    configuration decides it."""
    if left.is_unknown or right.is_unknown:
        other = right if left.is_unknown else left
        text = (other.is_const and isinstance(other.value, str)) or (
            isinstance(other, Py) and other.type == "str"
        )
        return open_bool(left, right) if text or other.is_none else COMPARED
    if type(left) is ShapeInt and left.is_extent and right.is_const:
        return Py("bool", "shape", _of_an_extent(op, right.value))
    result = open_bool(left, right)
    if result.source != "config":
        return result
    a, b = (
        value.value if value.is_const else getattr(value, "usual", None) for value in (left, right)
    )
    if a is None or b is None:
        return result
    folded = fold_comparison(a, b, op)
    return Py("bool", "config", folded.value) if folded.is_const else result


def _of_an_extent(op: type, other: object) -> bool | None:
    """How a dimension compares with a number where no tensor is empty; None when both are possible."""
    if not isinstance(other, int) or other > 1:
        return None
    least = _COMPARES[op](1, other)
    return least if _COMPARES[op](2, other) is least else None


def open_bool(*values: Value) -> Value:
    """A bool that is not known, and who decides it."""
    for value in values:
        if isinstance(value, Py) and value.source:
            return Py("bool", value.source)
    return Py("bool", "shape") if any(v.is_shape for v in values) else BOOL


def fold_comparison(left: object, right: object, op: type) -> Value:
    """The comparison of two constants."""
    try:
        return Const(bool(_COMPARES[op](left, right)))
    except TypeError:
        return BOOL
