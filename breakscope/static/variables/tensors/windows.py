"""Sizes behind convolutions and pooling, which slide a window over the last dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from breakscope.rulekit.values import Const, Sequence, Tensor, Value, int_of

CONVOLUTION = re.compile(r"conv([123])d$")
POOLING = re.compile(r"(?:max|avg)_?pool([123])d$")
TRANSPOSED = re.compile(r"convtranspose([123])d$")
ADAPTIVE = re.compile(r"adaptive_?(?:max|avg)_?pool([123])d$")
OF_WINDOW = ("kernel_size", "stride", "padding", "dilation")
OF_MEAN = OF_WINDOW[:3]
OF_CONVOLUTION = ("in_channels", "out_channels", *OF_WINDOW)
OF_TRANSPOSED = tuple(
    "in_channels out_channels kernel_size stride padding output_padding groups bias dilation".split()
)
OF_FUNCTION = ("weight", "bias", "stride", "padding", "dilation")


def behind_window(
    name: str, shape: tuple, args: Iterable[Value], kwargs: dict[str, Value], is_layer: bool
) -> tuple | None:
    """The sizes of what `torch.nn.functional.name` (`args` are those behind the tensor), or a layer of that
    name that was made with `args`, makes of a tensor of these sizes; None where they are not known."""
    name = name.lower()
    if found := ADAPTIVE.match(name):
        given = dict(zip(("output_size",), args)) | kwargs
        sizes = _each(given.get("output_size"), int(found[1]), None)
        return None if sizes is None else (*shape[: -len(sizes)], *sizes)
    if found := POOLING.match(name):
        words = OF_MEAN if name.startswith("avg") else OF_WINDOW
        given = {"stride": None} | dict(zip(words, args)) | kwargs
        stride = given["stride"]
        given["stride"] = given.get("kernel_size") if stride is None or stride.is_none else stride
        count = int(found[1])
        return _slid(shape, shape[-count - 1], given, count) if len(shape) > count else None
    if is_layer and (found := TRANSPOSED.match(name)):
        return _spread(shape, dict(zip(OF_TRANSPOSED, args)) | kwargs, int(found[1]))
    if (found := CONVOLUTION.match(name)) is None:
        return None
    if is_layer:
        given = dict(zip(OF_CONVOLUTION, args)) | kwargs
        return _slid(shape, int_of(given.get("out_channels")), given, int(found[1]))
    given = dict(zip(OF_FUNCTION, args)) | kwargs
    weight = given.get("weight")
    if type(weight) is not Tensor or not weight.shape:
        return None
    given["kernel_size"] = Sequence("tuple", [Const(n) for n in weight.shape[2:]])
    return _slid(shape, weight.shape[0], given, int(found[1]))


def _slid(shape: tuple, channels: object, given: dict[str, Value], count: int) -> tuple | None:
    """The sizes with `channels` in the place of the tensor's own."""
    ceil = given.get("ceil_mode", Const(False))
    if given.get("padding") == Const("same"):
        return (*shape[: -count - 1], channels, *shape[-count:])
    window = [
        _each(given.get(word), count, default) for word, default in zip(OF_WINDOW, (None, 1, 0, 1))
    ]
    if len(shape) not in (count + 1, count + 2) or None in window or ceil != Const(False):
        return None
    sizes = [
        (n + 2 * pad - gap * (kernel - 1) - 1) // step + 1 if type(n) is int and step > 0 else None
        for n, kernel, step, pad, gap in zip(shape[-count:], *window)
    ]
    return (*shape[: -count - 1], channels, *sizes)


def _spread(shape: tuple, given: dict[str, Value], count: int) -> tuple | None:
    """The sizes behind a transposed convolution."""
    words = zip((*OF_WINDOW, "output_padding"), (None, 1, 0, 1, 0))
    window = [_each(given.get(word), count, default) for word, default in words]
    if len(shape) not in (count + 1, count + 2) or None in window:
        return None
    sizes = [
        (n - 1) * step - 2 * pad + gap * (kernel - 1) + more + 1 if type(n) is int else None
        for n, kernel, step, pad, gap, more in zip(shape[-count:], *window)
    ]
    return (*shape[: -count - 1], int_of(given.get("out_channels")), *sizes)


def _each(value: Value | None, count: int, default: int | None) -> list[int] | None:
    """A number for each dimension; None where they are not known."""
    if value is None:
        return None if default is None else [default] * count
    given = value.items if isinstance(value, Sequence) else [value] * count
    numbers = [int_of(part) for part in given or ()]
    return numbers if len(numbers) == count and None not in numbers else None
