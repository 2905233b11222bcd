"""The calls of a target, and what each did."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from breakscope import limits
from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.calls import BATCHES, Enough, Plan, build
from breakscope.dynamic.child.load import Target, argument_tuples, look_up
from breakscope.dynamic.child.verify.heard import forget_warnings, listening
from breakscope.dynamic.child.verify.snapshot import (
    copied,
    leaves_of,
    owner_of,
    random_state,
    state_of,
)

Mark = Callable[[str], None]
Change = Callable[[torch.Tensor], torch.Tensor]
# other values for the floating-point arguments: the other side of a branch, and what has no order
VALUES: dict[str, Change] = {
    "negated": torch.neg,
    "zeros": torch.zeros_like,
    "large": lambda x: x * limits.LARGE_VALUES,
    "with one NaN": lambda x: _with_first(x, float("nan")),
    "with one inf": lambda x: _with_first(x, float("inf")),
    "NaN": lambda x: torch.full_like(x, float("nan")),
}


class Recorder:
    """Makes the calls of a plan on fresh targets. `given` are the weights and inputs of another
    recording, which the targets take over."""

    def __init__(self, module: ModuleType, plan: Plan, given: dict | None) -> None:
        self.module, self.plan, self.given = module, plan, given
        self.notes: list[str] = []

    def recorded(self, wrap: Callable[[Callable], Callable], mark: Mark, values: float) -> dict:
        """The calls, twice with the same arguments and with other batch sizes, through what `wrap`
        makes of the function; then for up to `values` seconds with other values."""
        target = self.target()
        initial = {
            "state": _tensors(owner_of(target)),
            "inputs": [copied(v) for v in _inputs(target)],
        }
        function = wrap(target.function)
        tensors.seed_everything()
        forget_warnings()
        calls: list[dict] = []
        if self.plan.drive:
            self._driven(target, function, mark, calls)
        else:
            for label, args, kwargs in self.sequence(target):
                mark(label)
                calls.append(self.call(label, target, function, args, kwargs))
                if calls[-1]["raised"] and not label.startswith("call "):
                    calls.pop()  # no batch size that the target takes
                    break
        result = {"initial": initial, "calls": calls, "state": state_of(target, self.module)}
        result["values"] = self._other_values(wrap, time.monotonic() + values) if values else []
        return result

    def target(self) -> Target:
        target = build(self.module, self.plan)
        if self.given is not None:
            target = self._taken_over(target)
        return target

    def sequence(self, target: Target) -> Iterator[tuple[str, tuple, dict]]:
        if self.plan.calls:
            for number, (args, kwargs) in enumerate(argument_tuples(self.module, self.plan.calls)):
                yield f"call {number + 1}", *tensors.move_values((args, kwargs), self.plan.device)
            return
        for number in range(limits.SAME_CALLS):
            yield f"call {number + 1}", target.args, target.kwargs
        for times in BATCHES[: self.plan.vary]:
            wider = tensors.another_batch(target.args, target.kwargs, times)
            if wider is not None:
                yield f"the call with {times} times the batch", *wider

    def call(
        self, label: str, target: Target, function: Callable, args: tuple, kwargs: dict
    ) -> dict:
        """One call with its backward, and all that it did."""
        found: dict[str, Any] = {"label": label, "raised": None, "outputs": [], "gradients": {}}
        leaves = _leaves(target, args, kwargs)
        with listening() as heard:
            try:
                output = function(*args, **kwargs)
                found["outputs"] = leaves_of(output)
                loss = tensors.form_loss(output) if self.plan.backward else None
                if loss is None:
                    found["gradients"] = _gradients(leaves)
                else:
                    with tensors.gradients_put_back(target.function, (args, kwargs)):
                        for leaf in leaves.values():
                            leaf.grad = None
                        loss.backward()
                        found["gradients"] = _gradients(leaves)
            except Exception as problem:
                found["raised"] = [type(problem).__name__, str(problem)[: limits.LONGEST_KEPT_TEXT]]
        found |= {"printed": heard.printed, "logged": heard.logged, "warned": heard.warned}
        found |= {"arguments": leaves_of((args, kwargs)), "random": random_state()}
        return found

    def _driven(self, target: Target, function: Callable, mark: Mark, calls: list[dict]) -> None:
        def call(*args: Any, **kwargs: Any) -> Any:
            label = f"call {len(calls) + 1}"
            mark(label)
            args, kwargs = tensors.move_values((args, kwargs), self.plan.device)
            with listening() as heard:
                output = function(*args, **kwargs)
            calls.append(
                {
                    "label": label,
                    "raised": None,
                    "outputs": leaves_of(output),
                    "gradients": {},
                    "arguments": leaves_of((args, kwargs)),
                    "random": random_state(),
                    "printed": heard.printed,
                    "logged": heard.logged,
                    "warned": heard.warned,
                }
            )
            return output

        try:
            look_up(self.module, self.plan.drive, " for --drive")(call, target.function)
        except Enough:
            pass

    def _other_values(self, wrap: Callable, deadline: float) -> list[dict]:
        found = []
        if self.plan.calls or self.plan.drive:
            return found
        for name, change in VALUES.items():
            if time.monotonic() > deadline:
                break
            target = self.target()
            changed = _changed(target.args, target.kwargs, change)
            if changed is None:
                break
            tensors.seed_everything()
            found.append(self.call(name, target, wrap(target.function), *changed))
        return found

    def _taken_over(self, target: Target) -> Target:
        """The weights and inputs of the other recording, where they fit."""
        owner, state = owner_of(target), self.given["state"]
        if isinstance(owner, torch.nn.Module):
            with torch.no_grad():
                for name, tensor in (*owner.named_parameters(), *owner.named_buffers()):
                    other = state.get(name)
                    if (
                        other is not None
                        and other.shape == tensor.shape
                        and other.dtype == tensor.dtype
                    ):
                        tensor.copy_(other)
        ours, theirs = _inputs(target), self.given["inputs"]
        fits = len(ours) == len(theirs) and all(
            a.shape == b.shape and a.dtype == b.dtype for a, b in zip(ours, theirs, strict=True)
        )
        if not fits:
            return target
        rest = iter(theirs)

        def take(value):
            if not isinstance(value, torch.Tensor):
                return value
            other = next(rest).to(value.device)
            if not torch.equal(other, value.detach()) and value.is_leaf:
                with torch.no_grad():
                    value.detach().copy_(other)
            return value

        pytree.tree_map(take, (target.args, target.kwargs))
        return target


@contextmanager
def lines_run(paths: list[str]) -> Iterator[dict[str, set[int]]]:
    """The lines of some files (absolute paths) that run within."""
    wanted = {os.path.realpath(path): path for path in paths}
    found: dict[str, set[int]] = {path: set() for path in paths}
    known: dict[str, str | None] = {}

    def of_call(frame, event, argument):
        name = frame.f_code.co_filename
        if name not in known:
            known[name] = wanted.get(os.path.realpath(name))
        path = known[name]
        if path is None:
            return None
        lines = found[path]
        lines.add(frame.f_lineno)

        def of_line(frame, event, argument):
            lines.add(frame.f_lineno)
            return of_line

        return of_line

    before = sys.gettrace()
    sys.settrace(of_call if wanted else before)
    try:
        yield found
    finally:
        sys.settrace(before)


def _tensors(owner: Any) -> dict[str, torch.Tensor]:
    if not isinstance(owner, torch.nn.Module):
        return {}
    return {n: copied(t) for n, t in (*owner.named_parameters(), *owner.named_buffers())}


def _inputs(target: Target) -> list[torch.Tensor]:
    leaves = pytree.tree_leaves((target.args, target.kwargs))
    return [value for value in leaves if isinstance(value, torch.Tensor)]


def _leaves(target: Target, args: tuple, kwargs: dict) -> dict[str, torch.Tensor]:
    """Parameters and inputs that may get a gradient, by name."""
    owner = owner_of(target)
    found = dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
    for number, value in enumerate(pytree.tree_leaves((args, kwargs))):
        if isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad:
            found[f"argument {number + 1}"] = value
    return found


def _gradients(leaves: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: copied(leaf.grad) for name, leaf in leaves.items() if leaf.grad is not None}


def _changed(args: tuple, kwargs: dict, change: Change) -> tuple[tuple, dict] | None:
    """The arguments with other values in their floating-point tensors; None when there are none."""
    changed = False

    def other(value):
        nonlocal changed
        if (
            not isinstance(value, torch.Tensor)
            or not value.is_floating_point()
            or not value.numel()
        ):
            return value
        changed = True
        with torch.no_grad():
            made = change(value.detach()).contiguous()
        return made.requires_grad_(value.requires_grad)

    made = pytree.tree_map(other, (args, kwargs))
    return made if changed else None


def _with_first(x: torch.Tensor, value: float) -> torch.Tensor:
    x = x.clone(memory_format=torch.contiguous_format)
    x.view(-1)[0] = value
    return x
