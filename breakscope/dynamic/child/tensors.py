"""Handling of the target's values: devices, another batch size, a loss, gradients put back."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

# packages whose objects hold no models of the user's
LEFT_ALONE = {"torch", "numpy", *sys.stdlib_module_names}


def seed_everything() -> None:
    """The same numbers in every stage of every run."""
    random.seed(0)
    torch.manual_seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def move_values(values: Any, device: torch.device) -> Any:
    """The same structure with its tensors and modules on `device`; untouched when they are there
    already."""

    def move(value):
        if isinstance(value, torch.nn.Module):
            return value.to(device)
        if isinstance(value, torch.Tensor) and value.device.type != device.type:
            return (
                value.detach().to(device).requires_grad_(value.requires_grad)
                if value.is_leaf
                else value.to(device)
            )
        return value

    return values if device.type == "cpu" else pytree.tree_map(move, values)


def move_function(function: Callable, device: torch.device) -> Callable:
    """Move a module, or what a function, method or partial holds: its owner, its closure, the
    globals it names. An owner that is no module, such as a trainer, is moved attribute by
    attribute."""
    if device.type == "cpu":
        return function
    if isinstance(function, torch.nn.Module):
        return function.to(device)
    if isinstance(function, functools.partial):
        inner = move_function(function.func, device)
        return functools.partial(
            inner, *move_values(function.args, device), **move_values(function.keywords, device)
        )
    _move_held(getattr(function, "__self__", None), device, set())
    code = getattr(function, "__code__", None)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            cell.cell_contents = move_values(cell.cell_contents, device)
            _move_held(cell.cell_contents, device, set())
        except ValueError:  # the cell is empty
            continue
    for name in code.co_names if code else ():
        value = function.__globals__.get(name)
        if isinstance(value, (torch.nn.Module, torch.Tensor)):
            function.__globals__[name] = move_values(value, device)
    return function


def _move_held(owner: Any, device: torch.device, seen: set[int]) -> None:
    """Move the tensors and modules of an object in place, and those of the objects that it holds."""
    if isinstance(owner, torch.nn.Module):
        owner.to(device)
    elif isinstance(
        owner, torch.optim.Optimizer
    ):  # its parameters are those of a module, moved in place
        for parameter, state in owner.state.items():
            owner.state[parameter] = move_values(state, device)
    elif (
        id(owner) not in seen
        and hasattr(owner, "__dict__")
        and type(owner).__module__.partition(".")[0] not in LEFT_ALONE
    ):
        seen.add(id(owner))
        for name, value in list(vars(owner).items()):
            if any(
                isinstance(leaf, (torch.Tensor, torch.nn.Module))
                for leaf in pytree.tree_leaves(value)
            ):
                owner.__dict__[name] = move_values(value, device)
            else:
                _move_held(value, device, seen)


def another_batch(args: tuple, kwargs: dict, times: int) -> tuple[tuple, dict] | None:
    """The same arguments with a batch `times` as large: every tensor whose first size is the first
    tensor's is repeated.

    None when no argument is a tensor with a first dimension.
    """
    tensors = [
        v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor) and v.dim() > 0
    ]
    if not tensors:
        return None
    size = tensors[0].shape[0]

    def repeat(value):
        if isinstance(value, torch.Tensor) and value.dim() > 0 and value.shape[0] == size:
            wider = torch.cat([value.detach()] * times)
            return wider.requires_grad_(value.requires_grad)
        return value

    return pytree.tree_map(repeat, (args, kwargs))


def form_loss(output: Any) -> torch.Tensor | None:
    """A scalar that every differentiable tensor of the output takes part in; None when there is
    none."""
    parts = []
    for value in tensors_of(output):
        if value.requires_grad and value.numel() and not value.is_sparse:
            value = torch.view_as_real(value) if value.is_complex() else value
            parts.append(value.float().sum())
    return torch.stack([part.to(parts[0].device) for part in parts]).sum() if parts else None


def tensors_of(output: Any) -> list[torch.Tensor]:
    found = []
    for leaf in pytree.tree_leaves(output):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, (torch.nn.Module, type)):
            found += [
                v
                for v in pytree.tree_leaves(list(vars(leaf).values()))
                if isinstance(v, torch.Tensor)
            ]
    return found


@contextmanager
def gradients_put_back(function: Any, arguments: Any) -> Iterator[None]:
    """Run a backward pass and leave `.grad` of parameters and inputs as it was, so that every call
    starts alike."""
    owner = (
        function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
    )
    parameters = list(owner.parameters()) if isinstance(owner, torch.nn.Module) else []
    leaves = [v for v in pytree.tree_leaves(arguments) if isinstance(v, torch.Tensor) and v.is_leaf]
    before = [(tensor, tensor.grad) for tensor in parameters + leaves]
    for tensor, _ in before:  # a backward pass adds to what is there
        tensor.grad = None
    try:
        yield
    finally:
        for tensor, gradient in before:
            tensor.grad = gradient
