"""How many dimensions and which dtype the tensors have that a library call returns.

`NDIM` and `DTYPE` give the words of the generated table `shapes` (`breakscope.knowledge.shapes`)
their meaning. Each takes the first tensor, the arguments behind it and the keywords, and returns
None where they do not determine it. The table is written by the same functions: a word stands in it when
what it gives is what torch gave.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from breakscope.knowledge.shapes import Shape
from breakscope.rulekit.values import (
    NONE,
    Const,
    External,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Value,
)

Arguments = list[Value]
Keywords = dict[str, Value]
KINDS = ("bool", "int", "float")  # in the order of promotion
FLAGS = ("return_", "as_")  # how the keywords begin that add results


def call_form(rest: Arguments, kwargs: Keywords) -> str:
    """How a call is written, in the words of `Shape.of`."""
    flags = [
        name
        for name, value in kwargs.items()
        if name.startswith(FLAGS) and not (value.is_const and not value.value)
    ]
    if flags:
        return " ".join(sorted(flags))
    given = [*rest, *(kwargs[name] for name in ("dim", "axis", "other") if name in kwargs)]
    if len(given) == 1 and given[0].is_tensor:
        return "tensor"
    if any(value.is_const and value.value is True for value in rest):
        return "flag"
    return "" if not rest and all(value.is_none for value in given) else "arguments"


def is_same_shape(rule: str, rest: Arguments, kwargs: Keywords) -> bool:
    """True when the result's sizes are the first tensor's."""
    return rule == "shape" or (
        rule == "broadcast" and all(map(_is_number, (*rest, *kwargs.values())))
    )


def behind_layer(
    shape: Callable[[str, str], Shape | None], layer: ExternalInstance, first: Tensor | None
) -> Value:
    """What a layer of torch.nn makes of a tensor; `shape` looks it up in the table. It is of floating point
    where nothing determines it."""
    owner = first if first is not None else Tensor()
    made_with = list(layer.args), dict(layer.kwargs)
    known = shape(layer.name, call_form(*made_with))
    if known is None:
        return Tensor("float", None, None, owner.sure)
    made = [
        Tensor(
            DTYPE[result.dtype](owner, *made_with) or "float",
            NDIM[result.ndim](owner, *made_with),
            None,
            owner.sure,
        )
        for result in known.results
    ]
    return Sequence("tuple", list(made)) if known.container else made[0]


def joined_ndim(shape: Shape | None, element: Value) -> int | None:
    """Of what a function makes of a list of tensors like `element`."""
    if shape is None or type(element) is not Tensor:
        return None
    return NDIM[shape.results[0].ndim](element, [], {})


def product_ndim(left: int, right: int) -> int:
    """Of `left @ right`, by their numbers of dimensions."""
    if left == 1 or right == 1:
        return max(left + right - 2, 0)
    return max(left, right)


def _unknown(owner: Tensor, rest: Arguments, kwargs: Keywords) -> None:
    return None


def _same(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    return owner.ndim


def _constant(number: int, owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    return number


def _offset(by: int, owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    return None if owner.ndim is None else owner.ndim + by


def _second(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    other = _other(rest, kwargs)
    return other.ndim if other is not None else None


def _indexed(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    """Those of the index; one of a single dimension may have none, and the other way round."""
    found = _second(owner, rest, kwargs)
    return owner.ndim if found is None and owner.ndim not in (None, 0, 1) else found


def _broadcast(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    found = [owner.ndim, *map(_operand_ndim, (*rest, *kwargs.values()))]
    return None if None in found else max(found)


def _operand_ndim(value: Value) -> int | None:
    """Of what is broadcast; a number has none."""
    return value.ndim if type(value) is Tensor else 0 if _is_number(value) else None


def _reduced(
    dim: int, keepdim: int, owner: Tensor, rest: Arguments, kwargs: Keywords
) -> int | None:
    """Of a reduction; `dim` and `keepdim` are positions behind the tensor, the latter below zero
    where it is never given without its name."""
    over = rest[dim] if len(rest) > dim else kwargs.get("dim", kwargs.get("axis", NONE))
    given = kwargs.get("keepdim", kwargs.get("keepdims", Const(False)))
    keep = rest[keepdim] if len(rest) > keepdim >= 0 else given
    if not keep.is_const or "*" in kwargs or len(rest) > max(dim, keepdim) + 1:
        return None
    if keep.value is True:
        return owner.ndim
    if over.is_none:
        return 0
    if type(over) is Sequence:
        gone = len(over.items) if over.items else None  # of none: all, to most functions
    else:
        gone = 1 if type(over) is Const and type(over.value) is int else None
    return None if gone is None or owner.ndim is None else max(owner.ndim - gone, 0)


def _sizes(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    """One for each of the integers, or for those of the first list, behind the tensor."""
    given = rest or [kwargs[name] for name in ("size", "shape", "dims") if name in kwargs]
    if given and type(given[0]) is Sequence:
        return len(given[0].items) if given[0].items is not None else None
    if "*" in kwargs or not given or not all(map(_is_size, given)):
        return None
    # a single one may be a list of them
    return len(given) if len(given) > 1 or _is_integer(given[0]) else None


def _permuted(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    return owner.ndim if owner.ndim is not None else _sizes(owner, rest, kwargs)


def _product(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    other = _other(rest, kwargs)
    if other is None or other.ndim is None or owner.ndim is None:
        return None
    return product_ndim(owner.ndim, other.ndim)


def _loss(owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    """Of a loss function or layer, by its reduction."""
    if kwargs.keys() & {"reduce", "size_average", "*"}:
        return None
    texts = [value for value in rest if value.is_const and type(value.value) is str]
    reduction = kwargs.get("reduction", texts[0] if texts else Const("mean"))
    return 0 if reduction.is_const and reduction.value != "none" else None


def _flattened(start_dim: int, owner: Tensor, rest: Arguments, kwargs: Keywords) -> int | None:
    """Of `x.flatten(start, end)`: one dimension in the place of several."""
    given = dict(zip(("start_dim", "end_dim"), rest, strict=False)) | kwargs
    start, end = given.get("start_dim", Const(start_dim)), given.get("end_dim", Const(-1))
    if not all(type(at) is Const and type(at.value) is int for at in (start, end)):
        return None
    if start.value >= 0 and end.value == -1:
        return start.value + 1
    if owner.ndim is None:
        return None
    first, last = (at + owner.ndim if at < 0 else at for at in (start.value, end.value))
    return owner.ndim - (last - first) if 0 <= first <= last < owner.ndim else None


def _kind(kind: str, owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    return kind


def _same_kind(owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    return owner.dtype


def _summed_kind(owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    return "int" if owner.dtype == "bool" else owner.dtype


def _second_kind(owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    other = _other(rest, kwargs)
    return other.dtype if other is not None else None


def _promoted_kind(owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    found = {owner.dtype, *map(_operand_kind, (*rest, *kwargs.values()))}
    if "float" in found:
        return "float"
    return None if None in found else max(found - {""}, key=KINDS.index)


def _quotient_kind(owner: Tensor, rest: Arguments, kwargs: Keywords) -> str | None:
    if kwargs.get("rounding_mode", NONE).is_none:
        return "float"
    return _promoted_kind(owner, rest, kwargs)


def _operand_kind(value: Value) -> str | None:
    """Of what is promoted; "" for what has no part in it."""
    if type(value) is Tensor:
        return value.dtype
    if value.is_shape:
        return "int"
    if value.is_const:
        kind = type(value.value).__name__
        return kind if kind in KINDS else "" if kind in ("str", "NoneType") else None
    return value.type if type(value) is Py and value.type in KINDS else None


def _other(rest: Arguments, kwargs: Keywords) -> Tensor | None:
    """The second tensor of a call."""
    given = (*rest, *(kwargs[name] for name in ("index", "other") if name in kwargs))
    return next((value for value in given if type(value) is Tensor), None)


def _is_size(value: Value) -> bool:
    if value.is_const:
        return type(value.value) is int
    return not isinstance(value, Sequence | External | Tensor)


def _is_integer(value: Value) -> bool:
    return value.is_const or value.is_shape or (type(value) is Py and value.type == "int")


def _is_number(value: Value) -> bool:
    return value.is_const or value.is_shape or type(value) is Py


Rule = Callable[[Tensor, Arguments, Keywords], int | None]
NDIM: dict[str, Rule] = {
    "?": _unknown,
    **{str(number): partial(_constant, number) for number in range(6)},
    "shape": _same,
    "same": _same,
    "permuted": _permuted,
    "second": _second,
    "indexed": _indexed,
    "broadcast": _broadcast,
    **{f"{by:+}": partial(_offset, by) for by in (1, 2, -1, -2)},
    "reduced": partial(_reduced, 0, 1),
    "reduced:0": partial(_reduced, 0, -1),
    "reduced:0:2": partial(_reduced, 0, 2),
    "reduced:1:2": partial(_reduced, 1, 2),
    "sizes": _sizes,
    "product": _product,
    "loss": _loss,
    "flattened": partial(_flattened, 0),
    "flattened:1": partial(_flattened, 1),
}
DTYPE: dict[str, Callable[[Tensor, Arguments, Keywords], str | None]] = {
    "?": _unknown,
    **{kind: partial(_kind, kind) for kind in KINDS},
    "same": _same_kind,
    "summed": _summed_kind,
    "promoted": _promoted_kind,
    "quotient": _quotient_kind,
    "second": _second_kind,
}
