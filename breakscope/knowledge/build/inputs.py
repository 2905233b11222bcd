"""The ready-made inputs of the probes, fresh for every call, and the words that describe an
argument."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np
import torch


def make(names: tuple[str, ...]) -> dict[str, Any]:
    """Fresh values for the named inputs; raises KeyError for a name that does not exist."""
    torch.manual_seed(0)
    return {name: INPUTS[name]() for name in names}


INPUTS = {
    "x": lambda: torch.rand(4, 3) + 0.1,
    "y": lambda: torch.rand(4, 3) + 0.5,
    "v": lambda: torch.rand(6),
    "t": lambda: torch.tensor(2.0),
    "k": lambda: torch.tensor(2),
    "flag": lambda: torch.tensor(True),
    "i": lambda: torch.tensor([0, 2, 1, 3]),
    "ii": lambda: torch.randint(0, 3, (4, 3)),
    "m": lambda: torch.tensor([[True, False, True]] * 4),
    "mb": lambda: torch.tensor([True, False, True, True]),
    "z": lambda: torch.rand(4, 3, dtype=torch.complex64),
    "sq": lambda: torch.eye(3) * 2 + 0.1,
    "q": lambda: torch.rand(2, 3, 8),
    "img": lambda: torch.rand(2, 3, 8, 8),
    "w": lambda: torch.rand(4, 3, requires_grad=True),
    "leaf": lambda: torch.rand(4, 3, requires_grad=True),
    "param": lambda: torch.nn.Parameter(torch.rand(4, 3)),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "a": lambda: np.random.default_rng(0).random((4, 3), dtype=np.float32) + 0.1,
    "ai": lambda: np.array([3, 1, 2, 1]),
    "am": lambda: np.array([True, False, True, True]),
    "n": lambda: 3,
    "p": lambda: 0.5,
    "yes": lambda: True,
    "s": lambda: "text",
    "ns": lambda: [3, 1, 2],
    "ts": lambda: [torch.rand(3), torch.rand(3)],
    "scalars": lambda: [torch.tensor(3.0), torch.tensor(1.0)],
    "tup": lambda: (torch.rand(3), torch.rand(3)),
    "d": lambda: {"a": torch.rand(3), "b": torch.rand(3)},
    "nd": lambda: {"a": 1, "b": 2},
}


def kind(value: Any) -> str:
    """One or two words for an argument, as breakscope.knowledge uses them."""
    if isinstance(value, torch.Tensor):
        dtype = (
            "bool"
            if value.dtype == torch.bool
            else "complex"
            if value.is_complex()
            else "float"
            if value.is_floating_point()
            else "int"
        )
        return (
            f"{'0d ' if value.layout == torch.strided and value.dim() == 0 else ''}{dtype} tensor"
        )
    if isinstance(value, np.ndarray):
        return "ndarray"
    if isinstance(value, (list, tuple, set)):
        inside = {kind(v) for v in value}
        return (
            f"{type(value).__name__} of {inside.pop()}"
            if len(inside) == 1
            else type(value).__name__
        )
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return "function"
    if isinstance(value, enum.Enum):
        return "enum"
    if isinstance(value, type):
        return "class"
    if isinstance(value, torch.nn.Module):
        return "module"
    return {"NoneType": "none"}.get(type(value).__name__, type(value).__name__)
