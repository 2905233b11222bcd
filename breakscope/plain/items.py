"""Items: of tensors, sizes, lists and module lists; and what may index them."""

from __future__ import annotations

import _ast

from breakscope.mask_names import names_a_mask
from breakscope.plain.kinds import (
    ANSWER,
    GIVEN,
    INDEX,
    INDICES,
    NONE,
    NUMBER,
    SIZES,
    STATIC,
    SURE,
    TENSOR,
    TENSORS,
    TEXT,
    UNKNOWN,
    WHOLE,
    Many,
    settled,
)

LAYER_TENSORS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"})
NUMERIC = frozenset({NUMBER, NONE})


class Items:
    """What indexing gives."""

    def eval_Subscript(self, node, frame) -> object:
        base, index = self.eval(node.value, frame), self.index(node.slice, frame)
        kind, sliced = type(base), type(node.slice) is _ast.Slice
        if kind is tuple and index != INDEX:
            at = _position(node.slice, base)
            if at is not None:
                return base[at]
            return base if sliced and settled(base) == SIZES else self.iterate(base)
        kept = _kept(base, node.slice) if index == NUMBER or base == SURE else None
        if index == INDEX and not (settled(base) == TENSOR and _is_of_tensor(node, base)):
            return self.fail()
        base = base if kind is tuple else settled(base)
        if index == UNKNOWN and (self.strict or kind is not Many):
            return self.fail()
        parts = self.parts(base)
        if parts is not None and (at := _position(node.slice, parts)) is not None:
            return parts[at]
        if (found := self.held(base, node.slice)) is not None:
            return found
        if kind is Many:
            return self.listed(base.element, node) if sliced else base.element
        if kind is frozenset:
            return base if sliced else self.element(base)
        if base == SIZES:
            return SIZES if sliced else NUMBER
        if base == NONE and self.strict:
            return NUMBER
        return kept or base if base in (TENSOR, NUMBER, TEXT) else self.fail()

    def index(self, node, frame) -> object:
        """The kind of an index: NUMBER when no tensor is in it, INDEX when one is that may be, else refused."""
        kind = type(node)
        if kind is _ast.Slice:
            parts = [self.eval(part, frame) for part in (node.lower, node.upper, node.step) if part is not None]
            return NUMBER if all(part in NUMERIC for part in parts) else self.fail()
        if kind is _ast.Tuple:
            found = [self.index(part, frame) for part in node.elts]
            return UNKNOWN if UNKNOWN in found else INDEX if INDEX in found else NUMBER
        if kind is _ast.Starred:
            node = node.value
        found = self.eval(node, frame)
        if found == ANSWER or found in (INDEX, GIVEN, NUMBER) and _looks_a_mask(node):
            return self.fail()
        if type(found) is str and found in INDICES:
            return INDEX
        found = settled(found)
        if type(found) is Many and found.role == "list":
            found = found.element
        return NUMBER if type(found) is str and found in STATIC else self.fail()

    def held(self, kind: object, key: _ast.expr) -> object | None:
        """What a dict, or the only module dict of several, holds under a constant key; None when that is not known."""
        if type(kind) is frozenset and len(kind) == 1:
            kind = next(iter(kind))
        return kind.held(key.value) if type(kind) is Many and type(key) is _ast.Constant else None

    def parts(self, kind: object) -> list | None:
        """The kinds of what a list holds, or the only module list of several, one by one."""
        if type(kind) is frozenset and len(kind) == 1:
            kind = next(iter(kind))
        return kind.parts if type(kind) is Many and kind.role != "dict" else None


def _looks_a_mask(node) -> bool:
    """True for what the analyzer takes for a mask where it does not know the type."""
    return (names_a_mask(getattr(node, "id", getattr(node, "attr", "")))
            or type(node) is _ast.UnaryOp and type(node.op) is _ast.Invert)


def _is_of_tensor(node, base: object) -> bool:
    """True when what is indexed is no list of tensors."""
    is_weight = type(node.value) is _ast.Attribute and node.value.attr in LAYER_TENSORS
    return base in TENSORS or is_weight or type(node.slice) is _ast.Tuple


def _kept(base: object, node) -> str | None:
    """The kind of a part of a tensor: an INDEX stays one where only slices and new axes are taken."""
    if base != INDEX:
        return base if type(base) is str and base in TENSORS else None
    parts = node.elts if type(node) is _ast.Tuple else [node]
    is_whole = all(type(part) is _ast.Slice or type(part) is _ast.Constant and part.value is None for part in parts)
    return INDEX if is_whole else WHOLE


def _position(node, parts) -> int | None:
    """The constant position that an index names in a sequence."""
    at = node.value if type(node) is _ast.Constant else None
    if type(node) is _ast.UnaryOp and type(node.op) is _ast.USub and type(node.operand) is _ast.Constant:
        at = -node.operand.value if type(node.operand.value) is int else None
    return at if type(at) is int and -len(parts) <= at < len(parts) else None
