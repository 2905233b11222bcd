"""Values behind fake tensors: those that the program itself fixes, and assumed ones.

A fake tensor has a shape and no numbers. Small ones whose numbers follow from constants, from the
example inputs and from small weights carry them beside, as a real tensor on the CPU, so that an index
table, an attention mask or a list of lengths is what it would be. A value that hangs on what is too
large to compute is drawn when it is first needed, and is kept from then on, so that all that
follows from it agrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils.weak import WeakTensorKeyDictionary

from breakscope import limits

GIBBERISH = ("aten::empty", "aten::empty_like", "aten::new_empty", "aten::empty_strided")


@dataclass
class Shared:
    """What views of one real tensor share: whether its numbers still hold, and whether they hang on
    an assumption."""

    holds: bool = True
    assumed: bool = False


@dataclass(frozen=True)
class Value:
    """The numbers of one fake tensor."""

    real: torch.Tensor
    shared: Shared


class Values:
    """Gives fake tensors their values and runs ops on these."""

    def __init__(self) -> None:
        # not on the tensors: libraries rebuild a parameter from its attributes
        self._known = WeakTensorKeyDictionary()
        self._draws = 0

    def begin_call(self) -> None:
        """From here on the same values are drawn as in the call before."""
        self._draws = 0

    def of(self, fake: torch.Tensor) -> Value | None:
        """The value of a fake tensor, None when it is not known."""
        value = self._known.get(fake)
        if value is None or not value.shared.holds:
            return None
        real = value.real  # `tensor.data = other` leaves the object and changes what it is
        return value if real.shape == fake.shape and real.dtype == fake.dtype else None

    def give(self, fake: torch.Tensor, real: torch.Tensor, shared: Shared | None = None) -> None:
        """Let a fake tensor have these numbers."""
        if isinstance(fake, FakeTensor) and real.layout == torch.strided and not real.is_quantized:
            self._known[fake] = Value(real, shared or Shared())

    def drawn(self, fake: torch.Tensor, most: int) -> Value | None:
        """The value of a fake tensor, drawn where it is unknown and has at most so many elements."""
        if value := self.of(fake):
            return value
        if fake.numel() > most or fake.layout != torch.strided or not _is_plain(fake):
            return None
        self._draws += 1
        with unset_fake_temporarily():  # a method asks, and no op
            real = _draw(tuple(fake.shape), fake.dtype, self._draws)
        self.give(fake, real, Shared(assumed=True))
        return self.of(fake)

    def run(self, func: Any, args: tuple, kwargs: dict, outputs: Any) -> bool:
        """Run an op on the values of its arguments and give them to its outputs; False when some
        are unknown, and what it writes to is unknown then too."""
        fakes = list(tensors_in((args, kwargs)))
        made = [t for t in tensors_in(outputs) if not any(t is fake for fake in fakes)]
        values = [self.of(fake) for fake in fakes]
        if (
            any(value is None for value in values)
            or any(t.layout != torch.strided for t in made)
            or any(t.numel() > limits.MOST_KNOWN_ELEMENTS for t in (*made, *fakes))
            or not (made or func._schema.is_mutable)
        ):
            self.forget_written(func, args, kwargs)
            return False
        try:
            real = func(*self.real(args), **self.real(kwargs))
        except Exception:  # what a CPU does not compute stays unknown
            self.forget_written(func, args, kwargs)
            return False
        if func.name().partition(".")[0] in GIBBERISH:
            real.zero_()
        self._give_outputs(outputs, real, [v for v in values if v])
        return True

    def _give_outputs(self, outputs: Any, real: Any, values: list[Value]) -> None:
        """The outputs get their numbers; those that are views share with what they view."""
        owners = {value.real.untyped_storage().data_ptr(): value.shared for value in values}
        assumed = any(value.shared.assumed for value in values)
        for fake, number in zip(tensors_in(outputs), tensors_in(real), strict=False):
            if self._known.get(fake) is None or fake.shape == number.shape:
                shared = owners.get(number.untyped_storage().data_ptr())
                if shared is not None and assumed:
                    shared.assumed = True
                self.give(fake, number, shared or Shared(assumed=assumed))
        if assumed:  # what was written to in place hangs on it too
            for value in values:
                if any(value.real is number for number in tensors_in(real)):
                    value.shared.assumed = True

    def forget_written(self, func: Any, args: tuple, kwargs: dict) -> None:
        """What an op writes to is unknown from here on."""
        self.forget(list(written(func, args, kwargs)))

    def forget(self, tensors: Any) -> None:
        """These are unknown from here on, and what shares memory with them."""
        for fake in tensors_in(tensors):
            value = self._known.get(fake)
            if value is not None:
                value.shared.holds = False

    def real(self, arguments: Any) -> Any:
        """The same arguments with the values of tensors in their place, on the CPU."""

        def turn(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor):
                return self.of(leaf).real
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

        return torch.utils._pytree.tree_map(turn, arguments)


def tensors_in(values: Any) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors_in(value)
    elif isinstance(values, dict):
        for value in values.values():
            yield from tensors_in(value)


def written(func: Any, args: tuple, kwargs: dict) -> Iterator[torch.Tensor]:
    """The tensors that an op writes to."""
    schema = getattr(func, "_schema", None)
    for number, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[number] if number < len(args) else kwargs.get(argument.name)
        yield from tensors_in(value)


def _is_plain(fake: torch.Tensor) -> bool:
    return not (fake.is_sparse or fake.is_quantized or fake.is_nested)


def _draw(shape: tuple[int, ...], dtype: torch.dtype, number: int) -> torch.Tensor:
    """Assumed numbers: normal ones; of integers 0 and 1, as they must not leave any index's range."""
    source = torch.Generator().manual_seed(number)
    if dtype.is_complex or dtype.is_floating_point:
        part = torch.float32
        drawn = torch.randn(shape, generator=source, dtype=part)
        return drawn.to(dtype)
    return torch.randint(0, 2, shape, generator=source).to(dtype)
