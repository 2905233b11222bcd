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
from breakscope.static.machine.versions import plain_tuple
from breakscope.static.variables.effects.emitting import (
    emit_call,
    emit_drawn,
    emit_sparse,
    sureness,
)
from breakscope.static.variables.library.followed.evaluated import evaluated_operator

_COMPARES = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}
_COMPARED_AS = {"list": "list", "tuple": "tuple", "size": "tuple"}
SAME, OTHER = frozenset({ast.Is, ast.Eq}), frozenset({ast.IsNot, ast.NotEq})


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
    if op in SAME | OTHER and not frame.emits and _are_members(left, right):
        return Const((left.type == right.type) == (op in SAME))
    if op in (ast.Is, ast.IsNot):
        emit_sparse(machine, (left, right), node, frame)
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
        sides = [plain_tuple(left), plain_tuple(right)]
        if None not in sides and (left.is_const or right.is_const):
            return fold_comparison(*sides, op)
        found = evaluated_operator(machine, left, right, op, node, frame)
        if found is not None:
            return found
        if frame.emits and (compared := _compared_tensor(left, right, op)) is not None:
            certainty = sureness(compared)
            emit_call(machine, "list.__eq__", None, (left, right), {}, node, frame, certainty)
    decides, other = machine.behaviour(left), machine.behaviour(right)
    if other.compare_precedence > decides.compare_precedence:
        decides = other
    return decides.compare(machine, left, right, op, node, frame)


def _compared_tensor(left: Value, right: Value, op: type) -> Tensor | None:
    """The first tensor that two lists or two tuples compare with another tensor or a number, where
    the items before it may be equal."""
    kinds = {_COMPARED_AS.get(getattr(value, "type", "")) for value in (left, right)}
    if not (type(left) is type(right) is Sequence) or len(kinds) != 1 or None in kinds:
        return None
    if left.items is None and right.items is None:
        pairs = [(left.element, right.element)]
    elif left.items is None or right.items is None:
        known = right.items if left.items is None else left.items
        other = left.element if left.items is None else right.element
        pairs = [(item, other) for item in known]
    elif len(left.items) != len(right.items) and op in (ast.Eq, ast.NotEq):
        return None
    else:
        pairs = list(zip(left.items, right.items))
    for a, b in pairs:
        if type(a) is Sequence and type(b) is Sequence:
            found = _compared_tensor(a, b, op)
            if found is not None or len(a.items or ()) != len(b.items or ()):
                return found
        elif a is not b and (type(a) is Tensor or type(b) is Tensor):
            tensor, other = (a, b) if type(a) is Tensor else (b, a)
            is_said = tensor.sure or tensor.ndim == 0 or tensor.origin == "argument"
            # what is guessed, or made of that, is rather a number here
            return tensor if is_said and _is_tensor_or_number(other) else None
        elif a.is_const and b.is_const and a.value != b.value:
            return None
    return None


def _is_tensor_or_number(value: Value) -> bool:
    if value.is_const:
        return isinstance(value.value, int | float | complex)
    is_number = type(value) is Py and value.type in ("int", "float", "number", "bool")
    return type(value) in (Tensor, ShapeInt) or is_number


def _are_members(left: Value, right: Value) -> bool:
    """True for two known members of enums."""
    return all(type(v) is Py and v.type.startswith("enum ") for v in (left, right))


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
