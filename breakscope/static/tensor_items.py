"""Items of tensors: read and stored."""

from __future__ import annotations

import ast
from operator import is_

from breakscope.events import Index, ScalarRead
from breakscope.mask_names import names_a_mask
from breakscope.static.frames import Frame
from breakscope.values import (
    COMPARED,
    UNKNOWN,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)


class TensorItems:
    """How tensors are indexed."""

    __slots__ = ()

    def masked(self, node: ast.expr, index: Value) -> Value:
        """The index as its source shows it: what is not known and named or computed as a mask is a boolean tensor."""
        if type(index) is Sequence:
            if index.items is None or type(node) is not ast.Tuple or len(node.elts) != len(index.items):
                return index
            parts = [self.masked(part, value) for part, value in zip(node.elts, index.items)]
            return index if all(map(is_, parts, index.items)) else Sequence(index.type, parts)
        if type(index) is Tensor and index.dtype is not None or not _may_be_mask(index):
            return index
        if any(option is COMPARED for option in options(index)):
            return Tensor("bool", sure=False)
        kind = type(node)
        if kind is ast.Name and names_a_mask(node.id) or kind is ast.Attribute and names_a_mask(node.attr):
            return Tensor("bool", getattr(index, "ndim", None), sure=False)
        if kind is ast.Compare or kind is ast.UnaryOp and type(node.op) is ast.Invert:
            return Tensor("bool", getattr(index, "ndim", None), sure=False)
        return index

    def tensor_item(self, node: ast.AST, owner: Tensor, index: Value, frame: Frame, store: str = "") -> Value:
        """`tensor[index]`: a boolean mask gives a shape that depends on data."""
        parts = index_parts(index)
        for part in parts:
            if isinstance(part, Py) and part.source == "draw":
                self.emit(ScalarRead, node, frame, value=part, how="draw", expression=self.text(node, frame.module))
        self.emit_index(node, frame, owner, parts, store)
        return Tensor(
            owner.dtype, self.item_rank(owner, parts), None, owner.sure, owner.kind if owner.kind == "numpy" else ""
        )

    def item_rank(self, owner: Tensor, parts: list[Value]) -> int | None:
        if owner.ndim is None:
            return None
        rank = owner.ndim
        for part in parts:
            if part.is_none:
                rank += 1
            elif (
                part.is_const
                and isinstance(part.value, int)
                and not isinstance(part.value, bool)
                or part.is_shape
                or part.is_scalar
                or (isinstance(part, Py) and part.type == "int")
            ):
                rank -= 1
            elif part.is_const and part.value is ... or isinstance(part, ExternalInstance) and part.name == "slice":
                continue
            elif isinstance(part, Tensor) and part.ndim == 0 and part.dtype != "bool":
                rank -= 1
            else:
                return None
        return max(rank, 0)

    def store_tensor_item(self, target: ast.Subscript, owner: Tensor, index: Value, value: Value, frame: Frame) -> None:
        parts = index_parts(index)
        self.emit_index(target, frame, owner, parts, "=", value)

    def emit_index(
        self, node: ast.AST, frame: Frame, owner: Tensor, parts: list[Value], store: str, value: Value = UNKNOWN
    ) -> None:
        """One event for each tensor among the indices, masks first."""
        tensors = [p for p in parts if isinstance(p, Tensor)] if self.interesting("Index") else []
        for part in sorted(tensors, key=lambda p: p.dtype != "bool"):
            self.emit(
                Index,
                node,
                frame,
                "certain" if owner.sure and part.sure else "likely",
                (part.dtype == "bool", part.ndim),
                container=owner,
                index=part,
                store=store,
                value=value,
            )


def index_parts(index: Value) -> list[Value]:
    """The parts of an index; what is a tensor on some path counts as one."""
    parts = index.items if isinstance(index, Sequence) and index.type == "tuple" and index.items is not None else [index]
    return [_likely_tensor(part) if type(part) is Union else part for part in parts]


def _may_be_mask(value: Value) -> bool:
    """True when nothing says what the value is, beside that it may be None."""
    if type(value) is Union:
        return any(_may_be_mask(option) for option in value.options)
    return value.is_tensor or value.is_unknown or type(value) is Py and value.type == "unknown"


def _likely_tensor(part: Union) -> Value:
    """The tensor among the options of a value whose other options are unknown."""
    tensors = [o for o in part.options if o.is_tensor]
    if len(tensors) == 1 and all(o.is_tensor or o.is_unknown for o in part.options):
        return Tensor(tensors[0].dtype, tensors[0].ndim, None, False, tensors[0].kind)
    return part
