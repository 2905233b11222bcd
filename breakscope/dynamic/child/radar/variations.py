"""What is varied, and in which steps: every variation begins with the target's own arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from breakscope import limits
from breakscope.dynamic.child.load import Target
from breakscope.dynamic.child.radar.dimensions import Dimension, leaf_names, with_leaf, with_tensors
from breakscope.dynamic.trace.phases import SAME

ARGUMENT = "argument"  # what the name of a variation of one plain value begins with


@dataclass(frozen=True)
class Step:
    """One call. `change` makes its arguments, `around` is what it runs in, `prepare` receives the
    target first."""

    label: str
    change: Callable[[tuple, dict], tuple[tuple, dict]] = lambda args, kwargs: (args, kwargs)
    around: Callable[[], AbstractContextManager] = nullcontext
    prepare: Callable[[Target], Any] = lambda target: None


@dataclass(frozen=True)
class Variation:
    """`steps` follow a call with the target's own arguments, which `base` names."""

    name: str
    base: str
    steps: tuple[Step, ...]


def variations(
    target: Target, batch: Dimension | None, sequence: Dimension | None, device: torch.device
) -> Iterator[Variation]:
    """All variations that make sense for this target, equal arguments first."""
    yield Variation(SAME, "the same call", (Step("the same call"),) * limits.SAME_STEPS)
    for found in (batch, sequence):
        if found is not None:
            yield Variation(
                found.kind,
                str(found.size),
                tuple(_resize(found, size) for size in (*_sizes(found.size), found.size)),
            )
            if found.size > 1:
                yield Variation(
                    f"{found.kind} of 1",
                    str(found.size),
                    tuple(_resize(found, size) for size in (1, found.size, 1)),
                )
    yield from _other_values(target)
    tensors = [
        v
        for v in torch.utils._pytree.tree_leaves((target.args, target.kwargs))
        if isinstance(v, torch.Tensor)
    ]
    if dtypes := _other_dtypes(tensors):
        kind, others = dtypes
        steps = tuple(_cast(kind, dtype) for dtype in (*others, kind, others[0]))
        yield Variation("dtype", _short(kind), steps)
    autocast = partial(torch.autocast, device.type, dtype=torch.bfloat16)
    yield Variation(
        "autocast",
        "off",
        (Step("bfloat16", around=autocast), Step("off"), Step("bfloat16", around=autocast)),
    )
    modes = [
        ("no_grad", torch.no_grad),
        ("inference_mode", torch.inference_mode),
        ("grad", nullcontext),
        ("no_grad", torch.no_grad),
    ]
    yield Variation(
        "grad mode", "grad", tuple(Step(label, around=around) for label, around in modes)
    )
    if any(tensor.is_floating_point() and tensor.is_leaf for tensor in tensors):
        has_gradient = any(tensor.requires_grad for tensor in tensors)
        labels = [not has_gradient, has_gradient, not has_gradient]
        yield Variation(
            "requires_grad of the arguments",
            str(has_gradient),
            tuple(_gradients(wanted) for wanted in labels),
        )
    model = owner(target.function)
    if model is not None:
        words = {True: "train", False: "eval"}
        turns = [not model.training, model.training, not model.training]
        yield Variation(
            "train/eval",
            words[model.training],
            tuple(Step(words[turn], prepare=partial(_set_mode, turn)) for turn in turns),
        )


def owner(function: Callable) -> torch.nn.Module | None:
    """The module that is called, or whose method is."""
    model = (
        function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
    )
    return model if isinstance(model, torch.nn.Module) else None


def _sizes(size: int) -> list[int]:
    """Other sizes than `size` and 1, the last partial batch first."""
    wanted = (
        size - 1,
        2,
        size * 2,
        size // 2,
        size + 1,
        size * 3,
        size - 2,
        size + 2,
        size + 3,
        size + 4,
        size + 5,
        size + 6,
        size + 7,
    )
    return list(dict.fromkeys(s for s in wanted if s > 1 and s != size))[: limits.OTHER_SIZES]


def _resize(found: Dimension, size: int) -> Step:
    return Step(str(size), change=lambda args, kwargs: found.resized(args, kwargs, size))


def _other_dtypes(
    tensors: list[torch.Tensor],
) -> tuple[torch.dtype, tuple[torch.dtype, ...]] | None:
    """The dtype of the first tensor, and what it may be instead."""
    for tensor in tensors:
        if tensor.is_floating_point():
            others = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
            return tensor.dtype, tuple(dtype for dtype in others if dtype != tensor.dtype)
        if tensor.dtype in (torch.int64, torch.int32):
            return tensor.dtype, (torch.int32 if tensor.dtype == torch.int64 else torch.int64,)
    return None


def _other_values(target: Target) -> Iterator[Variation]:
    """Each number, truth value and text among the arguments, the first few of them."""
    names = leaf_names(target.function, target.args, target.kwargs)
    leaves = torch.utils._pytree.tree_leaves((target.args, target.kwargs))
    plain = [
        (number, value)
        for number, value in enumerate(leaves)
        if type(value) in (bool, int, float, str)
    ]
    for number, value in plain[: limits.MOST_VARIED_VALUES]:
        steps = tuple(_put(number, other) for other in _others(value))
        yield Variation(f"{ARGUMENT} `{names.get(number, number)}`", _shown(value), steps)


def _others(value: bool | int | float | str) -> tuple:
    """A second value and more, to see whether it settles, and the first again."""
    if isinstance(value, bool):
        return (not value, value, not value)
    if isinstance(value, str):
        return (f"{value}_", value, f"{value}_")
    if isinstance(value, int):
        return (value + 1, value + 2, *((value - 1,) if value > 0 else ()), value * 2 + 3, value)
    # a share stays one where it can
    return (value * 0.5 or 0.5, value * 0.75 or 0.25, value + 1.0, value)


def _put(number: int, value: bool | int | float | str) -> Step:
    return Step(_shown(value), change=lambda args, kwargs: with_leaf(args, kwargs, number, value))


def _shown(value: bool | int | float | str) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return (
        text
        if len(text) <= limits.LONGEST_VARIED_VALUE
        else f"{text[: limits.LONGEST_VARIED_VALUE]}..."
    )


def _cast(kind: torch.dtype, dtype: torch.dtype) -> Step:
    def cast(tensor: torch.Tensor) -> torch.Tensor:
        return (
            tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)
            if tensor.dtype == kind
            else tensor
        )

    return Step(_short(dtype), change=lambda args, kwargs: with_tensors(args, kwargs, cast))


def _gradients(wanted: bool) -> Step:
    def require(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().requires_grad_(wanted) if tensor.is_floating_point() else tensor

    return Step(str(wanted), change=lambda args, kwargs: with_tensors(args, kwargs, require))


def _set_mode(train: bool, target: Target) -> None:
    owner(target.function).train(train)


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
