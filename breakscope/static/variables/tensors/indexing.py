"""Indexing of tensors: masks, the event for each tensor among the indices, the dimensions left."""

from __future__ import annotations

import ast
import re
from math import prod
from operator import is_

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.events import Index
from breakscope.rulekit.values import (
    COMPARED,
    UNKNOWN,
    ExternalInstance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
    int_of,
    options,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_read
from breakscope.static.variables.tensors.dtypes import NARROWED, PRECISIONS
from breakscope.static.variables.tensors.sizes import item_sizes

NAMED = (ast.Name, ast.Attribute, ast.Subscript)
VIEWS = frozenset(
    "view reshape flatten squeeze unsqueeze expand expand_as repeat transpose permute t contiguous".split()
)
LISTED_MASK = Tensor("bool", 1, origin="listed")
MASK = re.compile(r"(?:^|_)masks?(?:_?[a-z0-9])?$")  # `mask`, `pad_masks`, `mask_a`, `mask2`


def masked_index(machine: Machine, node: ast.expr, index: Value) -> Value:
    """The index as its source shows it: what is not known and named or computed as a mask is a
    boolean tensor."""
    if type(index) is Sequence:
        if index.items is None or type(node) is not ast.Tuple or len(node.elts) != len(index.items):
            return index
        parts = [masked_index(machine, part, value) for part, value in zip(node.elts, index.items)]
        return index if all(map(is_, parts, index.items)) else Sequence(index.type, parts)
    if (type(index) is Tensor and index.dtype is not None) or not _may_be_mask(index):
        return index
    if any(option is COMPARED for option in options(index)):
        return Tensor("bool", sure=False)
    kind, named = type(node), _viewed(node)
    if MASK.search(getattr(named, "id", None) or getattr(named, "attr", "")):
        return Tensor("bool", getattr(index, "ndim", None), sure=False)
    if kind is ast.Compare or (kind is ast.UnaryOp and type(node.op) is ast.Invert):
        return Tensor("bool", getattr(index, "ndim", None), sure=False)
    return index


def _viewed(node: ast.expr) -> ast.expr:
    """What an expression is a view, or a part, of: `mask` in `mask[0].unsqueeze(-1).expand_as(x)`."""
    while True:
        if type(node) is ast.Call and getattr(node.func, "attr", "") in VIEWS:
            node = node.func.value
        elif type(node) is ast.Subscript:
            node = node.value
        else:
            return node


def is_position(part: Value) -> bool:
    """True for a number that says where: it takes one out of a dimension."""
    if part.is_const:
        return isinstance(part.value, int) and not isinstance(part.value, bool)
    if isinstance(part, Py):
        return part.type in ("int", "number")
    return part.is_shape or part.is_scalar


def origin_of_part(value: Tensor, parts: list[Value] | tuple[()] = ()) -> str:
    """What only its place shows to be a tensor may be a list of anything."""
    if value.origin == "guess":
        return "guess"
    return "part" if all(map(is_position, parts)) else "op"


def item_of(machine: Machine, container: Tensor, parts: list[Value], frame: Frame) -> Tensor:
    """What `container[parts]` gives."""
    sizes, layout = (
        (None, "") if frame.emits else item_sizes(container, parts, machine.driver.difference)
    )
    return Tensor(
        container.dtype,
        item_ndim(container, parts),
        sizes,
        container.sure,
        container.kind_of_result or layout or _kind_of_part(container, frame),
        origin_of_part(container, parts),
        None if frame.emits else container.requires_grad,
    )


def row_of(value: Tensor, frame: Frame) -> Tensor:
    """What a loop over a tensor gives in each turn."""
    ndim = value.ndim - 1 if value.ndim else None
    shape = value.shape[1:] if value.shape and not frame.emits else None
    kind = _kind_of_part(value, frame)
    tracked = None if frame.emits else value.requires_grad
    origin = origin_of_part(value)
    return Tensor(value.dtype, ndim, shape, value.sure, kind, origin, tracked)


def _kind_of_part(value: Tensor, frame: Frame) -> str:
    """With its precision, of which a region follows whole numbers only."""
    is_precise = value.kind in (NARROWED if frame.emits else PRECISIONS)
    return value.kind if is_precise else value.kind_of_result


def item_ndim(owner: Tensor, parts: list[Value]) -> int | None:
    """How many dimensions are left; tensors among the parts give theirs together, masks one."""
    if owner.ndim is None:
        return None
    ndim, of_tensors = owner.ndim, 0
    for part in parts:
        if part.is_none:
            ndim += 1
        elif is_position(part):
            ndim -= 1
        elif (part.is_const and part.value is ...) or (
            isinstance(part, ExternalInstance) and part.name == "slice"
        ):
            continue
        elif isinstance(part, Tensor) and part.ndim is not None:
            if part.dtype is None and part.ndim > 1:
                return None  # a mask, or positions
            ndim -= part.ndim if part.dtype == "bool" else 1
            of_tensors = max(of_tensors, 1 if part.dtype == "bool" else part.ndim)
        else:
            return None
    return max(ndim + of_tensors, 0)


def emit_index(
    machine: Machine,
    node: ast.AST,
    frame: Frame,
    owner: Tensor,
    parts: list[Value],
    store: str,
    value: Value = UNKNOWN,
) -> None:
    """One event for each tensor among the indices, masks first."""
    if store and frame.emits:
        frame.activation.note_work(node)
    tensors = [p for p in parts if isinstance(p, Tensor)] if machine.wanted("Index") else []
    for part in sorted(tensors, key=lambda p: p.dtype != "bool"):
        machine.emit(
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


def read_slices(machine: Machine, node: ast.AST, frame: Frame, parts: list[Value]) -> None:
    """Emit the read of a slice's bound that is a tensor, where the slice was made elsewhere: one that is
    written in the index reads it there."""
    at = getattr(node, "slice", None)
    written = at.elts if type(at) is ast.Tuple else [at] * len(parts)
    for part, expression in zip(parts, written):
        bounds = _bounds(part) if type(expression) in NAMED else []
        # `slice(0, n)` of an array ended the graph, and has a number since
        if bounds and getattr(bounds[0], "kind", "") != "numpy":
            emit_read(machine, bounds[0], "slice", node, frame, expression)


def _bounds(part: Value) -> list[Value]:
    """The tensors that bound a slice, or one of those in a tuple of which not all is known."""
    if type(part) is ExternalInstance:
        return [bound for bound in part.args if bound.is_tensor] if part.name == "slice" else []
    if type(part) is not Sequence or part.type != "tuple" or part.items is not None:
        return []
    inside = [bound for option in options(part.element) for bound in _bounds(option)]
    return [replace(bound, sure=False) for bound in inside if type(bound) is Tensor]


def index_parts(index: Value) -> list[Value]:
    """The parts of an index; what is a tensor on some path counts as one. Of a tuple of unknown length one part stands
    for all where torch reads it as a number: `x[tuple(center // 2)]`."""
    parts = [index]
    if isinstance(index, Sequence) and index.type == "tuple":
        inside = [] if index.items is not None else options(index.element)
        numbers = [o for o in inside if type(o) is Tensor and is_computed_number(o)]
        parts = index.items if index.items is not None else numbers[:1] or [index]
    return [_as_index(part) for part in parts]


def _as_index(part: Value) -> Value:
    if type(part) is Union:
        return _likely_tensor(part)
    return LISTED_MASK if _is_listed_mask(part) else part


def _is_listed_mask(part: Value) -> bool:
    """True for a list of truths, of which torch makes a boolean tensor."""
    if type(part) is not Sequence or part.type not in ("list", "tuple") or part.items == []:
        return False
    inside = part.items if part.items is not None else options(part.element)
    return all(
        (o.is_const and type(o.value) is bool) or (type(o) is Py and o.type == "bool")
        for o in inside
    )


def is_computed_number(part: Tensor) -> bool:
    """True for a tensor of no dimension that the region computes; torch reads it as a Python number."""
    return part.ndim == 0 and part.is_computed and not part.has_known_value


def counted_parts(node: ast.AST, parts: list[Value]) -> list[Value]:
    """The parts of `x[i, n - 1]`: beside a counter, a tensor that one is taken off is the number of a
    position, and of no dimension where nothing else is known."""
    written = getattr(getattr(node, "slice", None), "elts", ())
    if len(written) != len(parts) or not any(map(_is_counter, parts)):
        return parts
    return [
        replace(part, ndim=0, sure=False)
        if type(part) is Tensor and part.ndim is None and _is_one_less(at, part)
        else part
        for at, part in zip(written, parts)
    ]


def _is_counter(part: Value) -> bool:
    """False for `...` and None, which count nothing."""
    return part.is_shape or type(part) is Py or int_of(part) is not None


def _is_one_less(at: ast.expr, part: Tensor) -> bool:
    if part.dtype == "bool" or not part.is_computed or type(at) is not ast.BinOp:
        return False
    return type(at.op) is ast.Sub and type(at.right) is ast.Constant


def _may_be_mask(value: Value) -> bool:
    """True when nothing is known of the value, beside that it may be None."""
    if type(value) is Union:
        return any(_may_be_mask(option) for option in value.options)
    return value.is_tensor or value.is_unknown or (type(value) is Py and value.type == "unknown")


def _likely_tensor(part: Union) -> Value:
    """The tensor among the options of a value whose other options are unknown, or None and numbers of the
    source."""
    tensors = [o for o in part.options if o.is_tensor]
    others = [o for o in part.options if not o.is_tensor]
    if len(tensors) != 1 or type(tensors[0]) is not Tensor:
        return part
    if all(o.is_const for o in others):
        return replace(tensors[0], shape=None, sure=False)
    if all(o.is_unknown for o in others):
        return Tensor(tensors[0].dtype, tensors[0].ndim, None, False, tensors[0].kind)
    return part


def scalar_of(owner: Tensor, is_outside: bool) -> Scalar:
    """The number in a tensor: a whole one of integers, outside of regions."""
    is_known = owner.dtype == "bool" or (is_outside and owner.dtype in ("int", "float"))
    return Scalar(owner.dtype if is_known else "number")


def listed_values(owner: Tensor, has_sizes: bool) -> Value:
    """What `.tolist()` gives: numbers, or lists of them, as many as the sizes say outside of regions."""
    ndim = 1 if owner.ndim is None else owner.ndim
    if ndim == 0:
        return scalar_of(owner, has_sizes)
    first = owner.shape[0] if has_sizes and owner.shape else None
    inner = replace(owner, ndim=ndim - 1, shape=owner.shape and owner.shape[1:])
    sizes = owner.shape if has_sizes and owner.shape else ()
    is_small = all(type(n) is int for n in sizes) and prod(sizes) <= limits.MOST_FOLDED_ITEMS
    if type(first) is int and is_small:
        return Sequence("list", [listed_values(inner, True) for _ in range(first)])
    return Sequence("list", None, listed_values(inner, False))
