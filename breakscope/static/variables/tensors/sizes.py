"""Sizes and layouts of tensors outside of regions, where code makes what it hands to them: a region's own
are symbols."""

from __future__ import annotations

import ast
from collections.abc import Callable
from math import prod
from operator import is_

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    Const,
    ExternalInstance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Value,
    int_of,
)

# methods whose result has the sizes of the tensor, laid out as a new one
KEEPING = frozenset(
    """
    clone contiguous detach cpu cuda to float double half long int bool bfloat16 requires_grad_ relu sigmoid tanh
    exp log abs neg sin cos softmax log_softmax clamp normal_ uniform_ zero_ fill_ add_ mul_ sub_ div_
    """.split()
)


# kinds of tensors that lie in memory as new ones do
DENSE = frozenset({"", "buffer", "parameter", "inference"})

WHOLE = ExternalInstance("slice", (NONE, NONE, NONE))  # `:`


class DrawnSize:
    """A size that is another one each time, or for other values of the tensors that it is `of`."""

    def __init__(self, *of: Value) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        if self is other or type(other) is not DrawnSize or not self.of:
            return self is other
        return len(self.of) == len(other.of) and all(map(is_, self.of, other.of))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.of))) if self.of else id(self)

    def __str__(self) -> str:
        return "?"


def with_sizes(result: Value, owner: Tensor, name: str) -> Value:
    """The result of a method, with the tensor's sizes where it keeps them."""
    if type(result) is Tensor and result.shape is None and name in KEEPING and owner.shape:
        return Tensor(
            result.dtype,
            len(owner.shape),
            owner.shape,
            result.sure,
            result.kind,
            result.origin,
            result.requires_grad,
        )
    return result


def item_sizes(
    owner: Tensor, parts: list[Value], difference: Callable[[Value, Value], Value | None]
) -> tuple[tuple | None, str]:
    """The sizes of `owner[parts]`, None for one that is not known, and how its memory is laid out where it
    surely is not as that of a new tensor; None where nothing is known of them. `difference` is what is known
    of that of two numbers."""
    shape = owner.shape or (None,) * (owner.ndim or 0)
    counted = [part for part in parts if not _is_new(part) and not _is_rest(part)]
    if not shape or len(counted) > len(shape):
        return None, ""
    if any(map(_is_rest, parts)):
        filled = [WHOLE] * (len(shape) - len(counted))
        at = next(i for i, part in enumerate(parts) if _is_rest(part))
        parts = [*parts[:at], *filled, *parts[at + 1 :]]
    sizes: list[int | None] = []
    strides: list[int | None] = []
    own = (strides_in(owner) if owner.shape else strides_of(shape)) or [None] * len(shape)
    kind, at, is_copy = "", 0, False
    for part in parts:
        if _is_new(part):
            sizes.append(1)
            strides.append(_outer(shape[at:], own[at:]))
            continue
        whole, before = shape[at], len(sizes)
        if _is_position(part):
            kept, step = 1, 1
        elif isinstance(part, ExternalInstance) and part.name == "slice":
            kept, step = _length(part, whole)
            if kept is None:
                is_drawn = type(whole) is DrawnSize  # as a part of it is
                sizes.append(DrawnSize(owner) if is_drawn else _drawn_length(part, difference))
            else:
                sizes.append(kept)
            strides.append(own[at] and own[at] * step)
        elif type(part) is Tensor and len(parts) == 1:
            return _chosen(owner, part, shape), ""
        elif (chosen := _positions(part)) is not None and not is_copy:
            is_copy = True
            sizes += chosen
            at += 1
            continue
        else:
            return None, ""
        known = None not in (kept, whole) and None not in shape[:at]
        if known and (step != 1 or (kept != whole and before)):
            kind = "strided"
        at += 1
    sizes += shape[at:]
    if is_copy:
        return tuple(sizes), ""
    strides += own[at:]
    if None not in strides and all(type(n) is int for n in sizes):
        kind = layout(strides) if strides != strides_of(sizes) else ""
    return (tuple(sizes), kind) if any(n is not None for n in sizes) else (None, "")


def strides_of(sizes: list | tuple) -> list[int | None]:
    """The strides of a new tensor of these sizes, None for one that is not known."""
    strides: list[int | None] = [1] if sizes else []
    for size in reversed(sizes[1:]):
        inner = strides[0]
        strides.insert(0, inner * max(size, 1) if type(size) is int and inner is not None else None)
    return strides


LAYOUT = "with strides "


def layout(strides: list[int]) -> str:
    """What a tensor of such strides is called."""
    return f"{LAYOUT}{tuple(strides)}"


def strides_in(tensor: Tensor) -> list[int] | None:
    """The strides of a tensor of known sizes; None where they are not known."""
    if tensor.shape is None or not all(type(size) is int for size in tensor.shape):
        return None
    if tensor.kind.startswith(LAYOUT):
        return [*ast.literal_eval(tensor.kind.removeprefix(LAYOUT))]
    return strides_of(tensor.shape) if tensor.kind in DENSE else None


def _outer(sizes: tuple, strides: list[int | None]) -> int | None:
    """The stride of a new dimension in front of these."""
    if not sizes:
        return 1
    known = type(sizes[0]) is int and strides[0] is not None
    return sizes[0] * strides[0] if known else None


def _is_position(part: Value) -> bool:
    """True for one number of a position, whether it is known or not."""
    if isinstance(part, Const):
        return type(part.value) is int
    return part.is_number and getattr(part, "type", "int") in ("int", "number")


def _is_new(part: Value) -> bool:
    """True for the None of `x[:, None]`."""
    return part.is_none


def _is_rest(part: Value) -> bool:
    return isinstance(part, Const) and part.value is ...


def _positions(part: Value) -> tuple | None:
    """The sizes of a list, or a tensor, of positions along one dimension."""
    if type(part) is Tensor and part.dtype == "int":
        return part.shape or None
    items = part.items if isinstance(part, Sequence) else None
    is_known = items and None not in map(int_of, items)
    return (len(items),) if is_known else None


def _chosen(owner: Tensor, index: Tensor, shape: tuple) -> tuple | None:
    """The sizes of what a mask, or numbers of positions, choose."""
    if index.dtype == "bool":
        return (DrawnSize(owner, index), *shape[index.ndim :]) if index.ndim else None
    return (*index.shape, *shape[1:]) if index.dtype == "int" and index.shape else None


def _drawn_length(
    part: ExternalInstance, difference: Callable[[Value, Value], Value | None]
) -> DrawnSize | int | None:
    """The length of a slice with random bounds, where it is another each time, or always the same one."""
    start, stop, step = part.args
    if not step.is_none:
        return None
    drawn = [_is_another_each_time(bound) for bound in (start, stop)]
    if all(drawn):
        kept = difference(stop, start)
        is_drawn = type(kept) is Py and kept.is_drawn
        return DrawnSize() if is_drawn else int_of(kept)
    return DrawnSize() if any(drawn) and (start.is_none or start.is_const) else None


def _is_another_each_time(bound: Value) -> bool:
    """True for a drawn number, and one that a tensor holds."""
    return (type(bound) is Py and bound.is_drawn) or type(bound) in (Tensor, Scalar)


def _length(part: ExternalInstance, whole: object) -> tuple[int | None, int]:
    """How many items a slice of constants leaves, and its step; of what is long enough where its length
    is not known."""
    bounds = [b.value if isinstance(b, Const) else "?" for b in part.args]
    if not all(b is None or type(b) is int for b in bounds) or bounds[2] == 0:
        return None, 1
    start, stop, step = bounds
    if type(whole) is int:
        return len(range(*slice(*bounds).indices(whole))), step or 1
    if step not in (None, 1):
        return None, step
    if stop is None and start is not None and start < 0:
        return -start, 1
    start = start or 0
    same_end = stop is not None and (start < 0) == (stop < 0)
    return (max(stop - start, 0), 1) if same_end else (None, 1)


def channels_last(owner: Tensor) -> Tensor:
    """The tensor with its channels last in memory: another layout where that shows."""
    shape = owner.shape
    if (
        owner.kind not in DENSE
        or shape is None
        or len(shape) != 4
        or not all(type(n) is int for n in shape)
    ):
        return owner
    _, channels, height, width = shape
    strides = [channels * height * width, 1, width * channels, channels]
    is_same = channels == 1 or height == width == 1
    return owner if is_same else replace(owner, kind=layout(strides))


def joined_sizes(tensors: Value, dim: Value | None) -> tuple | None:
    """The sizes of `torch.cat(tensors, dim)`: along it more than any of them has, where not all are
    known."""
    at = 0 if dim is None else dim.value if isinstance(dim, Const) else None
    items = tensors.items if isinstance(tensors, Sequence) else None
    if not items or type(at) is not int or not all(isinstance(t, Tensor) for t in items):
        return None
    known = [t.shape for t in items if t.shape is not None]
    if not known or not -len(known[0]) <= at < len(known[0]):
        return None
    sizes = list(known[0])
    along = [shape[at] for shape in known if len(shape) == len(sizes)]
    if len(along) == len(items) and all(type(n) is int for n in along):
        sizes[at] = sum(along)
    else:
        sizes[at] = f"more than {along[0]}"
    return tuple(sizes)


def stacked_sizes(tensors: Value, dim: Value | None) -> tuple | None:
    """The sizes of `torch.stack(tensors)`."""
    items = tensors.items if isinstance(tensors, Sequence) else None
    first = items[0] if items else None
    at = 0 if dim is None else dim.value if isinstance(dim, Const) else None
    if type(first) is not Tensor or first.shape is None or type(at) is not int:
        return None
    at %= len(first.shape) + 1
    return (*first.shape[:at], len(items), *first.shape[at:])


def known_sizes(owner: Tensor, name: str, args: list[Value]) -> Value | None:
    """`owner.shape`, `owner.size()` and `owner.size(dim)`, where the sizes are known numbers."""
    if owner.shape is None or not all(type(n) is int for n in owner.shape):
        return None
    if name == "numel":
        return Const(prod(owner.shape))
    if name == "size" and args:
        at = args[0].value if isinstance(args[0], Const) else None
        is_index = type(at) is int and -len(owner.shape) <= at < len(owner.shape)
        return Const(owner.shape[at]) if is_index else None
    return Sequence("size", [Const(n) for n in owner.shape])


# methods that cut a tensor, and what they call their first argument
CUTTING = {
    "split": ("split_size", "split_size_or_sections"),
    "chunk": ("chunks",),
    "unbind": (),
}


def pieces(
    owner: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Sequence | None:
    """What a method of `CUTTING` gives, where the sizes are known numbers."""
    by = next((kwargs[word] for word in CUTTING[name] if word in kwargs), None)
    given = args if by is not None or name == "unbind" else args[1:]
    by = args[0] if by is None and args and name != "unbind" else by
    dim = given[0] if given else kwargs.get("dim", Const(0))
    shape, at = owner.shape, dim.value if isinstance(dim, Const) else None
    if shape is None or type(at) is not int or not -len(shape) <= at < len(shape):
        return None
    at %= len(shape)
    sizes = _piece_sizes(name, by, shape[at])
    if sizes is None or len(sizes) > limits.MOST_CHUNKS:
        return None
    kept = [() if name == "unbind" else (size,) for size in sizes]
    shapes = [(*shape[:at], *size, *shape[at + 1 :]) for size in kept]
    is_whole = at == 0 or owner.kind or len(sizes) == 1
    kind = owner.kind if is_whole else "strided"
    return Sequence(
        "tuple",
        [replace(owner, shape=s, ndim=len(s), origin="op", kind=kind) for s in shapes],
    )


def _piece_sizes(name: str, by: Value | None, whole: object) -> list[int] | None:
    """How long the pieces are along the dimension that is cut."""
    if isinstance(by, Sequence) and by.items:
        sizes = [n.value if isinstance(n, Const) else None for n in by.items]
        return sizes if all(type(n) is int for n in sizes) else None
    if type(whole) is not int:
        return None
    if name == "unbind":
        return [1] * min(whole, limits.MOST_CHUNKS + 1)
    number = int_of(by)
    if number is None or number < 1:
        return None
    step = number if name == "split" else max(-(-whole // number), 1)
    if whole // step > limits.MOST_CHUNKS:
        return None
    return [min(step, whole - at) for at in range(0, whole, step)]


def padded_sizes(tensors: Value, is_batch_first: bool) -> tuple | None:
    """The sizes of `pad_sequence(tensors)`."""
    items = tensors.items if isinstance(tensors, Sequence) else None
    shapes = [t.shape for t in items or () if isinstance(t, Tensor) and t.shape]
    if not items or len(shapes) != len(items) or not all(type(s[0]) is int for s in shapes):
        return None
    count, longest = len(items), max(s[0] for s in shapes)
    first = (count, longest) if is_batch_first else (longest, count)
    return (*first, *shapes[0][1:])


def resized(owner: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]) -> tuple | None:
    """The sizes of what `torch.nn.functional.pad` or `interpolate` makes of the tensor."""
    given = dict(zip(("pad",) if name == "pad" else ("size", "scale_factor"), args)) | kwargs
    shape = owner.shape
    if shape is None or not all(type(n) is int for n in shape):
        return None
    if name == "pad":
        edges = _numbers(given.get("pad"), 0)
        if edges is None or len(edges) % 2 or len(edges) > 2 * len(shape):
            return None
        more = [a + b for a, b in zip(edges[::2], edges[1::2])]
        grown = [n + by for n, by in zip(reversed(shape), more)]
        return (*shape[: len(shape) - len(grown)], *reversed(grown))
    count = len(shape) - 2
    size, scale = (_numbers(given.get(n), count) for n in ("size", "scale_factor"))
    if size is None and _is_drawn(given.get("size")):
        return (*shape[:2], *[DrawnSize() for _ in range(count)])
    if size is None and scale is not None and len(scale) == count:
        size = [int(n * by) for n, by in zip(shape[2:], scale)]
    return (*shape[:2], *size) if size is not None and len(size) == count else None


def _is_drawn(value: Value | None) -> bool:
    """True for a random number, and for several."""
    values = value.items if isinstance(value, Sequence) else [value]
    return any(type(n) is Py and n.is_drawn for n in values or ())


def _numbers(value: Value | None, count: int) -> list | None:
    """Constants of a tuple, or one number as often as it counts."""
    values = value.items if isinstance(value, Sequence) else [value] * count
    numbers = [v.value if isinstance(v, Const) else None for v in values or ()]
    return numbers if numbers and all(type(n) in (int, float) for n in numbers) else None
