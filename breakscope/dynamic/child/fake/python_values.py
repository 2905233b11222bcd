"""What hands a tensor's numbers to Python or C without an op: `numpy`, `tolist`, `format`,
`data_ptr`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from breakscope import limits
from breakscope.dynamic.child.fake.mode import RunMode

METHODS = ("numpy", "__array__", "tolist", "__format__", "data_ptr", "as_subclass", "__deepcopy__")
MISSING = object()


@contextmanager
def answered(mode: RunMode) -> Iterator[None]:
    """Fake tensors of the run answer these methods as real ones do; afterwards as before."""
    before = {name: vars(FakeTensor).get(name, MISSING) for name in METHODS}
    inherited = {name: getattr(FakeTensor, name) for name in METHODS}
    for name, method in _methods(mode, inherited).items():
        setattr(FakeTensor, name, method)
    try:
        yield
    finally:
        for name, method in before.items():
            if method is MISSING:
                delattr(FakeTensor, name)
            else:
                setattr(FakeTensor, name, method)


def _methods(mode: RunMode, inherited: dict[str, Any]) -> dict[str, Any]:
    def ours(fake: FakeTensor) -> bool:
        return fake.fake_mode is mode and not mode.in_kernel_invocation

    def read(fake: FakeTensor, what: str) -> torch.Tensor:
        value = mode.values.drawn(fake, limits.MOST_DRAWN_ELEMENTS)
        if value is None:
            raise Unreadable(
                f"{what} of a tensor of {fake.numel():,} elements: a fake run has no values for it"
            )
        mode.answers.answer("values", "", value.shared.assumed)
        return value.real

    def numpy(self: FakeTensor, *, force: bool = False) -> Any:
        if not ours(self):
            return inherited["numpy"](self, force=force)
        if not force:
            if self.requires_grad:
                raise RuntimeError(
                    "Can't call numpy() on Tensor that requires grad. "
                    "Use tensor.detach().numpy() instead."
                )
            if self.device.type != "cpu":
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. "
                    "Use Tensor.cpu() to copy the tensor to host memory first."
                )
        with unset_fake_temporarily():
            return read(self, "numpy()").resolve_conj().resolve_neg().numpy()

    def array(self: FakeTensor, dtype: Any = None) -> Any:
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def tolist(self: FakeTensor) -> Any:
        return read(self, "tolist()").tolist() if ours(self) else inherited["tolist"](self)

    def format_(self: FakeTensor, spec: str) -> str:
        if ours(self) and self.dim() == 0 and not self.is_meta:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def data_ptr(self: FakeTensor) -> int:
        return read(self, "data_ptr()").data_ptr() if ours(self) else inherited["data_ptr"](self)

    def as_subclass(self: FakeTensor, kind: type) -> torch.Tensor:
        """A real tensor of the class, as no fake one can be of it; gradients end at it."""
        if not ours(self) or issubclass(FakeTensor, kind):
            return inherited["as_subclass"](self, kind)
        value = read(self, "as_subclass()")
        with unset_fake_temporarily():
            leaf = value.detach().requires_grad_(self.requires_grad)
            return leaf.clone().as_subclass(kind)

    def deepcopy(self: FakeTensor, memo: dict) -> torch.Tensor:
        if not ours(self):
            return inherited["__deepcopy__"](self, memo)
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment."
            )
        if id(self) not in memo:
            made = self.detach().clone()
            made = (
                torch.nn.Parameter(made, self.requires_grad)
                if isinstance(self, torch.nn.Parameter)
                else made.requires_grad_(self.requires_grad)
            )
            made.grad = None if self.grad is None else self.grad.clone()
            memo[id(self)] = made
        return memo[id(self)]

    return {
        "__deepcopy__": deepcopy,
        "numpy": numpy,
        "__array__": array,
        "tolist": tolist,
        "__format__": format_,
        "data_ptr": data_ptr,
        "as_subclass": as_subclass,
    }


class Unreadable(RuntimeError):
    """A value was asked for that a fake run cannot give."""

    __module__ = "breakscope"  # the report names it to people
