"""Operators on abstract values."""

from __future__ import annotations

import ast

from breakscope.events import Call, Format, ScalarRead
from breakscope.static.comparisons import Comparisons
from breakscope.static.expressions import STR
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of, is_number, join, join_all
from breakscope.static.numpy_numbers import FOLDED, READ, is_numpy_number
from breakscope.static.tensors import BITWISE
from breakscope.values import (
    BOOL,
    COMPARED,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Union,
    Value,
    holds_tensor,
    options,
)

_OPERATOR_METHODS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_UNARY_METHODS = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_FOLDS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda a, b: a << min(b, 64),
    ast.RShift: lambda a, b: a >> b,
}


class Operators(Comparisons):
    """What operators yield."""

    __slots__ = ()

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right, table = node.left, node.right, self.eval_table
        return self.binary(node, table[type(left)](left, frame), table[type(right)](right, frame), frame)

    def binary(self, node, left: Value, right: Value, frame: Frame) -> Value:
        """The result of an operator; `node` is a BinOp or an AugAssign."""
        op = type(node.op)
        if op is ast.BitOr and (left is TRUE or left == TRUE) and not right.is_tensor:
            return TRUE  # flags collected with `|=`
        if _is_text(left) and (op is ast.Mod and holds_tensor(right) or op is ast.Mult and right.is_tensor):
            self.emit(
                Format,
                node,
                frame,
                self.sureness(right) if right.is_tensor else "certain",
                value=right,
                construct="percent",
            )
            return Py("str", "tensor")
        if left.is_tensor or right.is_tensor:
            if type(left) is Instance or type(right) is Instance:
                return self.tensor_with_object(node, op, left, right, frame)
            return self.tensor_operator(op, left, right)
        if type(left) is Union or type(right) is Union:
            rows = [(a, b) for a in options(left) for b in options(right) if not a.is_none and not b.is_none]
            return join_all([self.binary(node, a, b, frame) for a, b in rows]) if rows else UNKNOWN
        if isinstance(left, Const) and isinstance(right, Const):
            return _fold(op, left.value, right.value)
        if isinstance(left, Sequence):
            return self.sequence_operator(op, left, right)
        if op is ast.Mod and _is_text(left):
            return Py("str", "shape") if right.is_shape else STR
        if left.is_scalar or right.is_scalar:
            return Scalar()
        if isinstance(left, Instance) or isinstance(right, Instance):
            return self.instance_operator(node, op, left, right, frame)
        if is_numpy_number(left) or is_numpy_number(right):
            return READ if READ in (left, right) else FOLDED
        numbers = is_number(left), is_number(right)
        if all(numbers):
            if left.is_shape or right.is_shape:
                return ShapeInt() if op is not ast.Div else Py("float", "shape")
            source = getattr(left, "source", "") or getattr(right, "source", "")
            if source == "draw":
                self.emit(
                    ScalarRead,
                    node,
                    frame,
                    value=left if getattr(left, "source", "") else right,
                    how="draw",
                    expression=self.text(node, frame.module),
                )
                source = "random"
            kinds = {_number_type(left), _number_type(right)}
            return Py(
                "int" if kinds == {"int"} and op is not ast.Div else "float" if "float" in kinds else "number", source
            )
        if isinstance(left, Py) and left.type == "str" and op is ast.Add:
            return left
        if isinstance(left, Dict) and isinstance(right, Dict) and op is ast.BitOr:
            return Dict({**left.items, **right.items}, join(left.element, right.element), left.open or right.open)
        return COMPARED if op in BITWISE and (left is COMPARED or right is COMPARED) else UNKNOWN

    def sequence_operator(self, op: type, left: Sequence, right: Value) -> Value:
        if op is ast.Add and isinstance(right, Sequence):
            if left.items is not None and right.items is not None:
                return Sequence(left.type, [*left.items, *right.items])
            return Sequence(left.type, None, join(element_of(left), element_of(right)))
        if op is ast.Mult:
            if (
                left.items is not None
                and isinstance(right, Const)
                and isinstance(right.value, int)
                and right.value * len(left.items) <= 64
            ):
                return Sequence(left.type, left.items * right.value)
            return Sequence(left.type, None, element_of(left))
        return Sequence(left.type, None, element_of(left)) if left.type == "set" else UNKNOWN

    def instance_operator(self, node, op: type, left: Value, right: Value, frame: Frame) -> Value:
        name = _OPERATOR_METHODS.get(op)
        own = ((left, right, "__i"),) if type(node) is ast.AugAssign else ()
        for owner, other, prefix in (*own, (left, right, "__"), (right, left, "__r")):
            if name and isinstance(owner, Instance):
                method = self.attribute(owner, f"{prefix}{name}__", node, frame)
                if isinstance(method, Function):
                    if frame.emits and self.interesting(f"object.__{name}__"):
                        full = f"object.__{name}__"
                        self.emit(Call, node, frame, name=full, receiver=owner, args=(left, right), kwargs={})
                    return self.call_implicitly(method, [other], node, frame)
        return UNKNOWN

    def tensor_with_object(self, node, op: type, left: Value, right: Value, frame: Frame) -> Value:
        """An operator between a tensor and an object of a class of the checked source."""
        name = _OPERATOR_METHODS.get(op)
        owner, forms = (left, ("__", "__i")) if type(left) is Instance else (right, ("__r",))
        own = (self.find_member(owner.cls.info, f"{form}{name}__") for form in forms)
        if not any(own) or any(base.startswith("torch.Tensor") for base in self.external_bases(owner.cls.info)):
            return self.tensor_operator(op, left, right)
        return self.instance_operator(node, op, left, right, frame)

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        if type(node.op) is ast.Not:
            truth = self.test(node, frame, "not")
            return BOOL if truth is None else Const(truth)
        value = self.eval(node.operand, frame)
        if value is COMPARED and type(node.op) is ast.Invert:
            return COMPARED
        if type(value) is Instance:
            return self.unary_of_instance(node, value, frame)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            if type(node.op) is ast.USub:
                return Const(-value.value)
            if type(node.op) is ast.Invert and isinstance(value.value, int):
                return Const(~value.value)
        return value

    def unary_of_instance(self, node: ast.UnaryOp, owner: Instance, frame: Frame) -> Value:
        name = _UNARY_METHODS[type(node.op)]
        method = self.attribute(owner, name, node, frame)
        if not isinstance(method, Function):
            return UNKNOWN
        if frame.emits and self.interesting(f"object.{name}"):
            self.emit(Call, node, frame, name=f"object.{name}", receiver=owner, kwargs={})
        return self.call_implicitly(method, [], node, frame)


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Py) and value.type == "str"


def _number_type(value: Value) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.type if isinstance(value, Py) else "int" if value.is_shape else "number"


def _fold(op: type, left, right) -> Value:
    """Constant folding of plain numbers and short strings."""
    if (
        op is ast.Pow
        and isinstance(left, int | float)
        and isinstance(right, int | float)
        and abs(right) <= 64
        and abs(left) < 1e6
    ):
        try:
            result = left**right
        except (ArithmeticError, ValueError):
            return UNKNOWN
        return Const(result) if isinstance(result, int | float) else UNKNOWN
    if op not in _FOLDS or not isinstance(left, int | float | str) or not isinstance(right, int | float | str):
        return STR if isinstance(left, str) and op is ast.Mod else UNKNOWN
    if op is ast.Mult and (isinstance(left, str) or isinstance(right, str)):
        return STR
    try:
        return Const(_FOLDS[op](left, right))
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
