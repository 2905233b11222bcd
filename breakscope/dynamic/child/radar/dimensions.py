"""Which dimensions of the arguments are the batch and the sequence, and arguments with other sizes
there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from breakscope import limits


@dataclass(frozen=True)
class Dimension:
    """What varies together. `places` maps the number of a leaf of (args, kwargs) to its dimensions
    of that size."""

    size: int
    places: dict[int, tuple[int, ...]]
    text: str  # "dimension 0 of `x` and `mask`"
    kind: str  # "batch", "sequence", "image size"

    def resized(self, args: tuple, kwargs: dict, size: int) -> tuple[tuple, dict]:
        """The arguments with another size there: what is longer begins again from the front."""
        leaves, spec = pytree.tree_flatten((args, kwargs))
        for number, dims in self.places.items():
            old = leaves[number]
            new = old.detach()
            for dim in dims:
                new = new.index_select(dim, torch.arange(size, device=old.device) % old.shape[dim])
            for mark in (
                "_dynamo_dynamic_indices",
                "_dynamo_weak_dynamic_indices",
                "_dynamo_dynamic_range",
            ):
                if hasattr(old, mark):  # what torch._dynamo.mark_dynamic left
                    setattr(new, mark, getattr(old, mark))
            leaves[number] = new.requires_grad_(old.requires_grad)
        return pytree.tree_unflatten(leaves, spec)


def batch(function: Callable, args: tuple, kwargs: dict, dim: int | None) -> Dimension | None:
    """The first dimension of the first tensor that has one, or `dim`, and of every tensor with the
    same size there."""
    tensors = _tensors(args, kwargs)
    dim = 0 if dim is None else dim
    first = next((tensor for tensor in tensors.values() if tensor.dim() > dim), None)
    if first is None or not first.shape[dim]:
        return None
    places = {
        n: (dim,) for n, t in tensors.items() if t.dim() > dim and t.shape[dim] == first.shape[dim]
    }
    return _dimension("batch", first.shape[dim], places, function, args, kwargs)


def sequence(
    function: Callable, args: tuple, kwargs: dict, dim: int | None, not_dim: int
) -> Dimension | None:
    """The second dimension of the first tensor that looks like tokens (integers with two
    dimensions, or three), or `dim`, and every dimension of that size but the batch's; of images
    (four dimensions) height and width, where they are equal."""
    tensors = _tensors(args, kwargs)
    if dim is not None:
        number = next((n for n, t in tensors.items() if t.dim() > dim), None)
    else:
        number = next(
            (n for n, t in tensors.items() if _looks_sequential(t) or _looks_like_images(t)), None
        )
    if number is None:
        return None
    first = tensors[number]
    images = dim is None and _looks_like_images(first)
    dim = dim if dim is not None else 2 if images else 1
    size = first.shape[dim]
    places: dict[int, tuple[int, ...]] = {}
    for n, tensor in tensors.items():
        if images:
            dims = (2, 3) if _looks_like_images(tensor) and tensor.shape[2] == size else ()
        elif n == number:
            dims = (dim,)
        else:
            dims = tuple(
                d
                for d in range(tensor.dim())
                if tensor.shape[d] == size and (d != not_dim or tensor.dim() == 1)
            )
        if dims:
            places[n] = dims
    kind = "image size" if images else "sequence"
    return _dimension(kind, size, places, function, args, kwargs) if size else None


def _looks_sequential(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 3 or (
        tensor.dim() == 2 and not tensor.is_floating_point() and not tensor.is_complex()
    )


def _looks_like_images(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 4 and tensor.shape[2] == tensor.shape[3]


def _tensors(args: tuple, kwargs: dict) -> dict[int, torch.Tensor]:
    return {
        n: v
        for n, v in enumerate(pytree.tree_leaves((args, kwargs)))
        if isinstance(v, torch.Tensor)
    }


def _dimension(
    kind: str, size: int, places: dict, function: Callable, args: tuple, kwargs: dict
) -> Dimension:
    names = leaf_names(function, args, kwargs)
    by_dims: dict[tuple[int, ...], list[str]] = {}
    for number, dims in places.items():
        by_dims.setdefault(dims, []).append(f"`{names.get(number, 'an argument')}`")
    return Dimension(
        size, places, ", ".join(_words(dims, owners) for dims, owners in by_dims.items()), kind
    )


def _words(dims: tuple[int, ...], owners: list[str]) -> str:
    which = (
        f"dimension {dims[0]}" if len(dims) == 1 else f"dimensions {' and '.join(map(str, dims))}"
    )
    shown = (
        owners
        if len(owners) <= limits.MOST_NAMED_OWNERS
        else [*owners[: limits.MOST_NAMED_OWNERS], f"{len(owners) - limits.MOST_NAMED_OWNERS} more"]
    )
    *first, last = shown
    return f"{which} of {', '.join(first)} and {last}" if first else f"{which} of {last}"


def leaf_names(function: Callable, args: tuple, kwargs: dict) -> dict[int, str]:
    """The parameter that each leaf of (args, kwargs) belongs to, as the user's code calls it."""
    entry = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        parameters = [
            p.name
            for p in inspect.signature(entry).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    names: dict[int, str] = {}
    given = [
        (parameters[n] if n < len(parameters) else f"args[{n}]", value)
        for n, value in enumerate(args)
    ]
    for name, value in [*given, *kwargs.items()]:
        for path, _ in pytree.tree_flatten_with_path(value)[0]:
            names[len(names)] = f"{name}{pytree.keystr(path)}"
    return names


def with_leaf(args: tuple, kwargs: dict, number: int, value: Any) -> tuple[tuple, dict]:
    """The arguments with another value at one leaf."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    leaves[number] = value
    return pytree.tree_unflatten(leaves, spec)


def with_tensors(
    args: tuple, kwargs: dict, change: Callable[[torch.Tensor], Any]
) -> tuple[tuple, dict]:
    """The arguments with every tensor changed."""
    return pytree.tree_map_only(torch.Tensor, change, (args, kwargs))
