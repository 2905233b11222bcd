"""Arithmetic and bitwise operators: which of the operands decides what they give."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    TRUE,
    UNKNOWN,
    Class,
    Const,
    External,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.constant import format_percent, is_text
from breakscope.static.variables.library.followed.evaluated import evaluated_operator
from breakscope.static.variables.numpy import array_of_number

TYPES = (Class, External)
SCALING = (ast.Div, ast.FloorDiv, ast.Mod)  # what a counter is divided by is a number


def binary_operation(
    machine: Machine, left: Value, right: Value, op: type, node: ast.AST, frame: Frame
) -> Value:
    """`left op right`; `node` is a BinOp, or an AugAssign for `left op= right`."""
    if op is ast.BitOr and left.is_const and left.value is True and not right.is_tensor:
        return TRUE  # flags collected with `|=`
    if op is ast.BitOr and _are_types(left) and _are_types(right):
        return Sequence("tuple", [*_types(left), *_types(right)])  # as isinstance takes them
    if is_text(left) or type(left) is type(right) is Sequence:
        found = evaluated_operator(machine, left, right, op, node, frame)
        if found is not None:
            return found
    if is_text(left):
        text = format_percent(machine, left, array_of_number(right), op, node, frame)
        if text is not None:
            return text
    decides, other = machine.behaviour(left), machine.behaviour(right)
    if other.binary_precedence > decides.binary_precedence:
        decides = other
    for value in (left, right):
        if type(value) is Union and any(type(option) is Instance for option in value.options):
            decides = machine.behaviour(value)  # each may have an operator of its own
    result = decides.binary(machine, left, right, op, node, frame)
    if frame.emits or machine.driver.function is None:
        return result
    if op is ast.Add and any(type(value) in (Tensor, Scalar) for value in (left, right)):
        machine.driver.sums[id(result)] = result, [left, right]
    numbers = [isinstance(value, Py | Const) for value in (left, right)]
    if all(numbers) or (numbers[0] and right is UNKNOWN and op in SCALING):
        return machine.driver.result_of(result, [left, right], op is ast.Add)
    return result


def _are_types(value: Value) -> bool:
    if type(value) is Sequence and value.type == "tuple" and value.items:
        return all(type(item) in TYPES for item in value.items)
    return type(value) in TYPES


def _types(value: Value) -> list[Value]:
    return value.items if type(value) is Sequence else [value]
