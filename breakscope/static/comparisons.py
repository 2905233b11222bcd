"""Comparisons: which are decided, and which ask a tensor."""

from __future__ import annotations

import ast

from breakscope.events import Call, ScalarRead
from breakscope.static.expressions import is_hashable
from breakscope.static.frames import Frame
from breakscope.static.joins import join_all
from breakscope.static.library import ADDRESS, VERSION_INFO
from breakscope.static.numpy_numbers import TRUTH, is_numpy_number
from breakscope.values import (
    BOOL,
    COMPARED,
    FALSE,
    Class,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)

_COMPARE_METHODS = {
    ast.Eq: "__eq__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.NotEq: "__ne__",
}
_COMPARES = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


class Comparisons:
    """How values compare."""

    __slots__ = ()

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
        if (left is ADDRESS or right is ADDRESS) and kind in _COMPARES and self.interesting("Tensor.data_ptr.__eq__"):
            self.emit(Call, node, frame, name="Tensor.data_ptr.__eq__", args=(left, right), kwargs={})
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
        if (is_numpy_number(left) or is_numpy_number(right)) and not (left.is_none or right.is_none):
            return TRUTH
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
            return self.open_bool(left, right) if text or other.is_none else COMPARED
        return self.open_comparison(kind, left, right)

    def open_comparison(self, kind: type, left: Value, right: Value) -> Value:
        """The bool of a comparison that is not known, with what it is by default where configuration decides it."""
        result = self.open_bool(left, right)
        if result.source != "config":
            return result
        a, b = (value.value if value.is_const else getattr(value, "usual", None) for value in (left, right))
        if a is None or b is None:
            return result
        folded = _fold_compare(kind, a, b)
        return Py("bool", "config", folded.value) if folded.is_const else result

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
        if left.is_const and is_hashable(left.value):
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
                self.call_implicitly(method, [left], node, frame)
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


def _fold_compare(kind: type, left, right) -> Value:
    try:
        return Const(bool(_COMPARES[kind](left, right)))
    except TypeError:
        return BOOL
