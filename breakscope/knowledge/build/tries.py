"""Calls of torch's and numpy's functions with tensors of 0 to 5 dimensions, and what they returned.

The arguments are torch's own operator and module samples (which need `expecttest`), each with
dimensions added and taken away, and ready-made ones. All run on small CPU tensors: kernels for the
device `meta` take dtypes that the others refuse, and not all operators have one.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from breakscope.rulekit.values import UNKNOWN, Const, External, Sequence, Tensor, Value

DTYPES = (torch.float32, torch.int64, torch.bool)
SAMPLES = 24  # of each operator and dtype
VARIED = 8  # of these, tried with other dimensions too
SIZES = (
    *((2, 3, 4, 5, 3)[:n] for n in range(6)),
    *((4,) * n for n in range(1, 6)),
    *((1, 3, 1, 2, 1)[:n] for n in range(1, 6)),
)

LAYERS_MADE_WITH = (
    *(((), {}), ((2,), {}), ((4,), {}), ((6,), {}), ((4, 3), {}), ((6, 3), {}), ((4, 3, 2), {})),
    *(((2, 4), {}), ((6, 2, 8), {}), ((-1,), {}), ((2, 3), {}), ((1, 0.5), {}), ((1, (2, 3)), {})),
    *(((2,), {"return_indices": True}), ((), {"reduction": "none"}), ((0, 1), {}), ((None, 2), {})),
)


@dataclass(frozen=True)
class Try:
    """One call that returned tensors: the abstract first tensor, the arguments behind it, the
    keywords, and the tensors, alone ("") or in a "tuple" or "list"."""

    owner: Tensor
    rest: list[Value]
    kwargs: dict[str, Value]
    results: tuple[Tensor, ...]
    container: str
    deprecated: bool = False  # torch warned of this way to call it


def of_operator(
    function: Callable, samples: Iterable[tuple[tuple, dict]], in_place: bool
) -> Iterator[Try]:
    """The tries of a function with samples of its arguments, as they are and varied."""
    for number, (args, kwargs) in enumerate(samples):
        for given, named in _varied(args, kwargs) if number < VARIED else [(args, kwargs)]:
            if (found := attempt(function, given, named, in_place)) is not None:
                yield found


def of_function(function: Callable, in_place: bool, arrays: bool = False) -> Iterator[Try]:
    """The tries of a function with the ready-made arguments; `arrays`: those of numpy."""
    for first in _firsts():
        for rest, kwargs in _rests(first):
            args = (first, *rest)
            if arrays:
                args = tuple(v.numpy() if isinstance(v, torch.Tensor) else v for v in args)
            if (found := attempt(function, args, kwargs, in_place)) is not None:
                yield found


def of_layer(layer: Callable, made: tuple[tuple, dict], inputs: Iterable[tuple]) -> Iterator[Try]:
    """The tries of a layer's call; what it was made with stands in the place of the arguments."""
    rest = [abstract(value) for value in made[0]]
    kwargs = {name: abstract(value) for name, value in made[1].items()}
    for args in inputs:
        for given, named in _varied(args, {}):
            if (found := attempt(layer, given, named, False)) is not None:
                yield Try(found.owner, rest, kwargs, found.results, found.container)


def layer_inputs() -> Iterator[tuple]:
    """Ready-made inputs of layers: one tensor, or two alike."""
    for dtype in DTYPES[:2]:
        for size in ((), (4,), (2, 4), (2, 4, 6), (2, 4, 6, 6), (2, 4, 6, 6, 6), (4, 6)):
            first = _tensor(size, dtype)
            yield from ((first,), (first, first))


def attempt(function: Callable, args: tuple, kwargs: dict, in_place: bool) -> Try | None:
    """One call; None when it raised, had no first tensor or returned something else."""
    described = _described(args, kwargs)
    if described is None or any(map(_is_empty, (*args, *kwargs.values()))):
        return None
    if in_place:
        args = torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, args)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            made = function(*args, **kwargs)
    except Exception:  # arguments that do not fit, in as many ways as there are functions
        return None
    container = "" if isinstance(made, _TENSORS) else type(made).__name__
    if any(made is value for value in args[1:]):
        return None  # it writes into an argument
    deprecated = any("deprecated" in str(warning.message) for warning in warned)
    parts = (made,) if not container else made if isinstance(made, (tuple, list)) else ()
    if not parts or not all(isinstance(part, _TENSORS) for part in parts):
        return None if not isinstance(made, (tuple, list)) else Try(*described, (), "other")
    results = tuple(abstract(part) for part in parts)
    return Try(*described, results, container and "tuple", deprecated)


def abstract(value: Any) -> Value:
    """The analyzer's value for a real one."""
    if isinstance(value, torch.Tensor):
        kind = "bool" if value.dtype == torch.bool else "complex" if value.is_complex() else ""
        kind = kind or ("float" if value.is_floating_point() else "int")
        return Tensor(kind, value.ndim, tuple(value.shape))
    if isinstance(value, (np.ndarray, np.generic)):
        kind = {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(value.dtype.kind, "other")
        return Tensor(kind, value.ndim, value.shape, kind="numpy")
    if value is None or isinstance(value, (bool, int, float, str)):
        return Const(value)
    if isinstance(value, (list, tuple)):
        return Sequence("list", [abstract(part) for part in value])
    return External(str(value)) if isinstance(value, torch.dtype) else UNKNOWN


_TENSORS = (torch.Tensor, np.ndarray, np.generic)


def _is_empty(value: Any) -> bool:
    """True for a tensor without elements, which passes checks that others do not."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_empty, value))
    return isinstance(value, torch.Tensor) and value.numel() == 0


def _described(args: tuple, kwargs: dict) -> tuple[Tensor, list[Value], dict[str, Value]] | None:
    """The first tensor (the element of a list of them), what is behind it and the keywords."""
    values = [abstract(value) for value in args]
    named = {name: abstract(value) for name, value in kwargs.items()}
    if not values:
        return None
    if type(values[0]) is Sequence and values[0].items:
        parts = values[0].items
        if not all(type(part) is Tensor for part in parts):
            return None
        ndims, kinds = {part.ndim for part in parts}, {part.dtype for part in parts}
        owner = Tensor(
            kinds.pop() if len(kinds) == 1 else None, ndims.pop() if len(ndims) == 1 else None
        )
        return owner, values[1:], named
    owner = next((value for value in values if type(value) is Tensor), None)
    return None if owner is None else (owner, values[1:], named)


def _varied(args: tuple, kwargs: dict) -> Iterator[tuple[tuple, dict]]:
    """The arguments as they are, and with dimensions more or less of the first or of all tensors."""
    yield args, kwargs
    changes = [
        *(lambda t, n=n: t[(None,) * n] for n in (1, 2, 3)),
        *(lambda t, n=n: t[(..., *(None,) * n)] for n in (1, 2, 3)),
        lambda t: t[0],
        lambda t: t[..., 0],
        lambda t: t[0, 0],
        lambda t: t.reshape(-1)[0],
    ]
    for change in changes:
        for all_of_them in (False, True):
            try:
                yield _changed(args, kwargs, change, all_of_them)
            except (IndexError, RuntimeError):  # has no such dimension
                continue


def _changed(args: tuple, kwargs: dict, change: Callable, all_of_them: bool) -> tuple[tuple, dict]:
    if not all_of_them:
        at = next((i for i, value in enumerate(args) if isinstance(value, torch.Tensor)), None)
        if at is None:
            raise IndexError
        return (*args[:at], change(args[at]), *args[at + 1 :]), kwargs
    return torch.utils._pytree.tree_map_only(torch.Tensor, change, (args, kwargs))


def _tensor(size: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    made = torch.arange(1, 1 + int(np.prod(size)), dtype=torch.float32).reshape(size)
    made = (made * 0.7).sin().abs() + 0.1
    return (
        (made * 3).to(dtype)
        if dtype == torch.int64
        else made > 0.6
        if dtype == torch.bool
        else made
    )


def _firsts() -> Iterator[torch.Tensor]:
    for dtype, size in itertools.product(DTYPES, SIZES):
        yield _tensor(size, dtype)


def _rests(first: torch.Tensor) -> Iterator[tuple[tuple, dict]]:
    """The ready-made arguments behind a first tensor."""
    plain = [
        (), (0,), (1,), (2,), (-1,), (0.5,), (2.0,), (None,), (0, 1), (1, 0), (0, -1), (2, 2), (2, 3), (2, 0),
        (0, True), (1, True), (0.5, 0), (0.5, 1, True), (2, 0, True), (0, False, True), (0, 1, 2), (0, 0, 2), (0.0, 1.0),
        (0.5, 0.5), ((0,),), ((0, 1),), ((0, 1), True), ((1, 1),), ((2, 3),), ((2, -1),), ((4, 4),), (2, -1),
        (-1,), (1, 1, 1, 1, 2), ((3, 4),), ((4,),), (3, (2, 2)), (0, (1, 1)), (0, (2, -1)), ((1, 2), 0), ((0,), (1,)),
        (((1, 1)), "constant", 0.5), (0, 1, 0), (0, 1, 2, 0), (torch.float64,), (torch.int64,), ((2, 3), 1.0), ((2, 3), 2),
        ("mean",), ("sum",),
    ]  # fmt: skip
    yield from ((rest, {}) for rest in plain)
    for named in (
        {"dim": 0}, {"dim": -1}, {"dim": 1, "keepdim": True}, {"dim": (0, 1)}, {"keepdim": True}, {"dim": None},
        {"as_tuple": True}, {"return_indices": True}, {"return_inverse": True}, {"return_counts": True},
        {"return_inverse": True, "return_counts": True}, {"descending": True}, {"axis": 0}, {"axis": 1, "keepdims": True},
    ):  # fmt: skip
        yield (), named
    like = {dtype: _tensor(tuple(first.shape), dtype) for dtype in DTYPES}
    others = [
        *like.values(),
        *(_tensor(size, first.dtype) for size in ((), (3,), (4,), (2, 3), (4, 4), (4, 2, 4, 5, 3))),
    ]
    for other in others:
        yield (other,), {}
    positions = torch.zeros(1, dtype=torch.int64)
    places = torch.zeros_like(like[torch.int64])
    yield from (
        (rest, {})
        for rest in (
            (first, first), (first, 0.5), (0.5, first), (like[torch.bool], 0), (like[torch.bool], 0.5),
            (like[torch.bool], first), (like[torch.bool][None], 0), (0, positions), (0, places), (places, 0), (1, places),
            (0, positions, 0), (0, places, first), (0, places, 1), (0, positions, first[:1] if first.ndim else first),
            ((positions,), first[:1] if first.ndim else first), (0, places, first, "sum"), (2, first), (first, 2),
            (first, first, first), (_tensor((1,), torch.float32), first), (_tensor((4,), torch.float32), _tensor((4,), torch.float32)),
        )
    )  # fmt: skip
