"""Items of tensors: read and stored."""

from __future__ import annotations

import ast

from breakscope.events import Index, ScalarRead
from breakscope.static.frames import Frame
from breakscope.values import (
    UNKNOWN,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)


class TensorItems:
    """How tensors are indexed."""

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


def _likely_tensor(part: Union) -> Value:
    """The tensor among the options of a value whose other options are unknown."""
    tensors = [o for o in part.options if o.is_tensor]
    if len(tensors) == 1 and all(o.is_tensor or o.is_unknown for o in part.options):
        return Tensor(tensors[0].dtype, tensors[0].ndim, None, False, tensors[0].kind)
    return part
