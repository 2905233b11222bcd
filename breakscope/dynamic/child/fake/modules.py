"""Modules of fake parameters that change their device or dtype: `module.to`, `.half()`, `.cuda()`.

torch swaps the contents of such parameters, and refuses where anything else refers to them. Here they
are put in the old ones' places, tied ones once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils.weak import WeakTensorKeyDictionary


@contextmanager
def replaced_parameters() -> Iterator[None]:
    original, moved = torch.nn.Module._apply, WeakTensorKeyDictionary()

    def apply(self: torch.nn.Module, fn: Any, recurse: bool = True) -> torch.nn.Module:
        own = [*self._parameters.values(), *self._buffers.values()]
        if own and not any(isinstance(tensor, FakeTensor) for tensor in own):
            return original(self, fn, recurse)
        for child in self.children() if recurse else ():
            child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _moved(parameter, fn, moved)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    torch.nn.Module._apply = apply
    try:
        yield
    finally:
        torch.nn.Module._apply = original


def _moved(parameter: torch.Tensor, fn: Any, moved: WeakTensorKeyDictionary) -> torch.Tensor:
    with torch.no_grad():
        applied = fn(parameter)
        gradient = fn(parameter.grad) if parameter.grad is not None else None
    if applied is parameter:
        return parameter
    known = moved.get(parameter)
    if known is not None and (known.dtype, known.device) == (applied.dtype, applied.device):
        return known
    new = torch.nn.Parameter(applied, parameter.requires_grad)
    new.grad = gradient
    for name, value in vars(parameter).items():  # what the program noted on it
        if name not in vars(new):
            setattr(new, name, value)
    moved[parameter] = new
    return new
