"""Python numbers of any kind: arithmetic, sizes of a tensor's shape, numbers read from a tensor."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Method, Py, Scalar, Sequence, ShapeInt, Value
from breakscope.static.machine.library import PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import emit_drawn


class NumberVariable(Variable):
    """What may be a Python number."""

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        if not (left.is_number and right.is_number):
            if type(left) is Sequence or type(right) is Sequence:
                emit_drawn(machine, (left, right), node, frame)
            return super().binary(machine, left, right, op, node, frame)
        if left.is_shape or right.is_shape:
            return ShapeInt() if op is not ast.Div else Py("float", "shape")
        source = getattr(left, "source", "") or getattr(right, "source", "")
        if source == "draw":
            emit_drawn(machine, (left, right), node, frame)
            source = "random"
        types = {_type_name(left), _type_name(right)}
        if types == {"int"} and op is not ast.Div:
            return Py("int", source)
        return Py("float" if "float" in types else "number", source)

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        result = super().compare(machine, left, right, op, node, frame)
        if type(result) is Py and result.source == "draw":
            is_drawn = machine.region.is_drawn(left) or machine.region.is_drawn(right)
            return machine.region.draw("bool") if is_drawn else Py("bool", "random")
        return result

    def unary(self, machine: Machine, value, op, node, frame) -> Value:
        emit_drawn(machine, (value,), node, frame)
        return super().unary(machine, value, op, node, frame)

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return False


class ShapeVariable(NumberVariable):
    """A Python int from a tensor's shape."""

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        return owner if name in ("real", "numerator") else Method(owner, name)

    def has_type(self, value, name) -> bool | None:
        if name in ("int", "typing.Hashable", "numbers.Number", "numbers.Integral"):
            return True
        return False if name in PYTHON_TYPES else None

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        return value if name == "int" else Py(name, "shape")


class ScalarVariable(ShapeVariable):
    """A Python number, or a list of them, that was read from a tensor."""

    binary_precedence = 3

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        is_whole = op is not ast.Div and all(_type_name(v) == "int" for v in (left, right))
        return Scalar("int" if is_whole else "number")

    def has_type(self, value, name) -> bool | None:
        return None

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        return value

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        return owner

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        return Scalar()

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        return Scalar()


def _type_name(number: Value) -> str:
    if isinstance(number, Const):
        return type(number.value).__name__
    return (
        number.type if isinstance(number, Py | Scalar) else "int" if number.is_shape else "number"
    )
