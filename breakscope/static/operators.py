"""Operators and comparisons on abstract values."""

from __future__ import annotations

import ast

from breakscope.events import Call, Format, ScalarRead
from breakscope.static.expressions import STR, _hashable
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.library import VERSION_INFO
from breakscope.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
    holds_tensor,
    options,
)

BOOL = Py("bool")


class Operators:
    """What operators yield."""

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        return self.binary(node, self.eval(node.left, frame), self.eval(node.right, frame), frame)

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
        numbers = _is_number(left), _is_number(right)
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
        return UNKNOWN

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
        for owner, other, prefix in ((left, right, "__"), (right, left, "__r")):
            if name and isinstance(owner, Instance):
                method = self.attribute(owner, f"{prefix}{name}__", node, frame)
                if isinstance(method, Function):
                    return self.call_value(method, [other], {}, node, frame)
        return UNKNOWN

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        if type(node.op) is ast.Not:
            truth = self.test(node, frame, "not")
            return BOOL if truth is None else Const(truth)
        value = self.eval(node.operand, frame)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            if type(node.op) is ast.USub:
                return Const(-value.value)
            if type(node.op) is ast.Invert and isinstance(value.value, int):
                return Const(~value.value)
        return value

    def eval_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left, result = self.eval(node.left, frame), None
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
            right = self.eval(right_node, frame)
            if i and self.truth_of(result, node, frame, "chained") is False:
                return FALSE
            result = self.compare(node, op, left, right, right_node, frame)
            left = right
        return result

    def compare(
        self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value, right_node: ast.expr, frame: Frame
    ) -> Value:
        kind = type(op)
        if left is VERSION_INFO and self.interesting("sys.version_info.__lt__"):
            self.emit(Call, node, frame, name="sys.version_info.__lt__", kwargs={})
        if kind in (ast.In, ast.NotIn):
            if (
                left.is_tensor
                and isinstance(right, Sequence)
                and right.type in ("list", "tuple")
                and right.items != []
                and kind is ast.In
            ):
                return Tensor("bool", 0, (), left.sure)  # compared with each element in the graph
            found = self.contains(node, left, right, right_node, frame)
            return BOOL if found is None else Const(found == (kind is ast.In))
        if kind in (ast.Is, ast.IsNot):
            same = self.identical(left, right)
            return BOOL if same is None else Const(same == (kind is ast.Is))
        if left.is_tensor or right.is_tensor:
            other = right if left.is_tensor else left
            if other.is_none or (other.is_const and isinstance(other.value, str)):
                return Const(kind is ast.NotEq)
            tensor = left if left.is_tensor else right
            sure = tensor.sure
            return Tensor(
                "bool",
                max((t.ndim for t in (left, right) if t.is_tensor and t.ndim is not None), default=None)
                if all(not t.is_tensor or t.ndim is not None for t in (left, right))
                else None,
                sure=sure,
                kind=tensor.kind,
            )
        if type(left) is Union or type(right) is Union:
            return join_all(
                [self.compare(node, op, a, b, right_node, frame) for a in options(left) for b in options(right)]
            )
        if isinstance(left, Const) and isinstance(right, Const):
            return _fold_compare(kind, left.value, right.value)
        if kind in (ast.Eq, ast.NotEq) and isinstance(left, External) and isinstance(right, External):
            return Const((left.name == right.name) == (kind is ast.Eq)) if left.name == right.name else BOOL
        if isinstance(left, Sequence) and isinstance(right, Sequence):
            return BOOL
        if isinstance(left, Instance) and kind in _COMPARE_METHODS:
            method = self.attribute(left, _COMPARE_METHODS[kind], node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [right], {}, node, frame)
            return BOOL
        if left.is_unknown or right.is_unknown:
            other = right if left.is_unknown else left
            text = other.is_const and isinstance(other.value, str) or isinstance(other, Py) and other.type == "str"
            return self.open_bool(left, right) if text or other.is_none else UNKNOWN  # it may be a tensor's comparison
        return self.open_bool(left, right)

    def open_bool(self, *values: Value) -> Value:
        """A bool that is not known, and who decides it."""
        for value in values:
            if isinstance(value, Py) and value.source:
                return Py("bool", value.source)
        return Py("bool", "shape") if any(v.is_shape for v in values) else BOOL

    def contains(self, node: ast.Compare, left: Value, right: Value, right_node: ast.expr, frame: Frame) -> bool | None:
        if right.is_tensor:
            self.emit(
                ScalarRead,
                node,
                frame,
                self.sureness(right),
                value=right,
                how="contains",
                expression=self.text(right_node, frame.module),
            )
            return None
        if isinstance(right, Sequence) and left.is_tensor:
            if right.type in ("list", "tuple") and right.items != []:  # `not in`: Python needs the answer
                self.emit(
                    ScalarRead,
                    node,
                    frame,
                    self.sureness(left),
                    value=left,
                    how="contains",
                    expression=self.text(node.left, frame.module),
                )
            return None
        if left.is_const and _hashable(left.value):
            if (
                isinstance(right, Sequence)
                and right.items is not None
                and all(v.is_const for v in right.items)
                and not right.home
            ):
                return left.value in [v.value for v in right.items]
            if isinstance(right, Dict) and not right.open and not right.home:
                return left.value in right.items
            if right.is_const and isinstance(right.value, str) and isinstance(left.value, str):
                return left.value in right.value
        if isinstance(right, Dict | Sequence) and right.home and frame.emits:
            self.reads.setdefault((id(right), ""), (frame.activation, node))
        if isinstance(right, Instance):
            method = self.attribute(right, "__contains__", node, frame)
            if isinstance(method, Function):
                self.call_value(method, [left], {}, node, frame)
        return None

    def identical(self, left: Value, right: Value) -> bool | None:
        """`left is right`, None when not known."""
        if left.is_unknown or right.is_unknown:
            return None
        if type(left) is Union or type(right) is Union:
            verdicts = {self.identical(a, b) for a in options(left) for b in options(right)}
            return verdicts.pop() if len(verdicts) == 1 else None
        if left.is_none or right.is_none:
            other = right if left.is_none else left
            if isinstance(other, Py) and other.type in ("object", "unknown"):
                return None
            return left.is_none and right.is_none
        if isinstance(left, Const) and isinstance(right, Const):
            return left.value is right.value if isinstance(left.value, bool) or isinstance(right.value, bool) else None
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return True if left is right and left.origin == "argument" else None
        if isinstance(left, Class) and isinstance(right, Class):
            return left.info is right.info
        if isinstance(left, External) and isinstance(right, External):
            return left.name == right.name
        if {type(left), type(right)} & {Class} and {type(left), type(right)} & {External}:
            return False
        return None


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Py) and value.type == "str"


def _is_number(value: Value) -> bool:
    return (
        value.is_shape
        or value.is_scalar
        or (isinstance(value, Py) and value.type in ("int", "float", "number", "bool"))
        or (isinstance(value, Const) and isinstance(value.value, int | float))
    )


def _number_type(value: Value) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.type if isinstance(value, Py) else "int" if value.is_shape else "number"


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
}
_COMPARE_METHODS = {
    ast.Eq: "__eq__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.NotEq: "__ne__",
}
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
_COMPARES = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


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


def _fold_compare(kind: type, left, right) -> Value:
    try:
        return Const(bool(_COMPARES[kind](left, right)))
    except TypeError:
        return BOOL
