"""Copies of values, as plain data that a file can keep: tensors, and the text of what else is
there."""

from __future__ import annotations

import hashlib
import random
import sys
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from breakscope import limits
from breakscope.dynamic.child.load import Target

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def leaves_of(value: Any) -> list[dict]:
    """The leaves of a structure, in order."""
    return [_leaf(leaf) for leaf in pytree.tree_leaves(_opened(value))]


def state_of(target: Target, module: ModuleType) -> dict[str, dict]:
    """Parameters, buffers and plain attributes of the target's module, and the globals of its file,
    by name."""
    state: dict[str, dict] = {}
    owner = owner_of(target)
    if isinstance(owner, torch.nn.Module):
        for name, tensor in (*owner.named_parameters(), *owner.named_buffers()):
            state[name] = _leaf(tensor)
        for prefix, part in owner.named_modules():
            _add(state, f"{prefix}." if prefix else "", vars(part))
    elif owner is not None:
        _add(state, "", getattr(owner, "__dict__", {}))
    _add(state, "global ", {k: v for k, v in vars(module).items() if not k.startswith("__")})
    return state


def owner_of(target: Target) -> Any:
    """The object whose state a call may change; None for a plain function."""
    function = target.function
    if isinstance(function, torch.nn.Module):
        return function
    return getattr(function, "__self__", None)


def random_state() -> dict[str, str]:
    """The places of the random streams, as digests."""
    found = {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "Python": repr(random.getstate()).encode(),
    }
    if torch.cuda.is_initialized():
        found["CUDA"] = torch.cuda.get_rng_state().numpy().tobytes()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy"] = repr(numpy.random.get_state()).encode()
    return {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor's values, to be kept."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.clone().cpu()


def _add(state: dict[str, dict], prefix: str, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name in ("training", "_is_full_backward_hook") or f"{prefix}{name}" in state:
            continue
        if isinstance(value, (*PLAIN, torch.Tensor)):
            state[f"{prefix}{name}"] = _leaf(value)
        elif type(value) in (list, dict, tuple, set) and not name.startswith("_"):
            if len(value) <= limits.MOST_KEPT_ITEMS:
                leaves = (
                    pytree.tree_leaves(value)
                    if type(value) is not set
                    else sorted(map(repr, value))
                )
                if all(isinstance(leaf, (*PLAIN, torch.Tensor)) for leaf in leaves):
                    for number, leaf in enumerate(leaves):
                        state[f"{prefix}{name}[{number}]"] = _leaf(leaf)
                    state[f"len({prefix}{name})"] = _leaf(len(value))


def _leaf(value: Any) -> dict:
    if isinstance(value, torch.Tensor):
        if type(value).__name__ == "FakeTensor":
            return {"type": "FakeTensor", "text": ""}
        return {
            "type": "tensor",
            "tensor": copied(value),
            "requires_grad": bool(value.requires_grad),
        }
    text = repr(value)[: limits.LONGEST_KEPT_TEXT] if isinstance(value, PLAIN) else ""
    return {"type": type(value).__name__, "text": text}


def _opened(value: Any) -> Any:
    """Objects that hold tensors, such as the outputs of a library's models, as dicts."""

    def opened(leaf: Any) -> Any:
        if isinstance(leaf, (torch.Tensor, torch.nn.Module, type, *PLAIN)):
            return leaf
        held = getattr(leaf, "__dict__", None)
        if held and any(
            isinstance(v, torch.Tensor) for v in pytree.tree_leaves(list(held.values()))
        ):
            return dict(held)
        return leaf

    return pytree.tree_map(opened, value)
