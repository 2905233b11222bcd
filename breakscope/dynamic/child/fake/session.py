"""All that is fake about a run, and that everything is as before when it ends."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils import _pytree as pytree

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.fake.answers import Answers, frames
from breakscope.dynamic.child.fake.cuda import as_on_cuda
from breakscope.dynamic.child.fake.mode import RunMode
from breakscope.dynamic.child.fake.modules import replaced_parameters
from breakscope.dynamic.child.fake.packed import unpacked
from breakscope.dynamic.child.fake.python_values import answered
from breakscope.dynamic.child.fake.ranks import as_rank
from breakscope.dynamic.child.fake.values import Values
from breakscope.dynamic.child.load import Target
from breakscope.dynamic.child.written.progress_log import Progress


def shown(answer: Any) -> str:
    return f"{answer:.6g}" if isinstance(answer, float) else repr(answer)


class Session:
    """A fake run: its mode, the values behind its tensors, and the answers that it gives."""

    def __init__(self, progress: Progress) -> None:
        self.values, self.answers = Values(), Answers()
        self.mode = RunMode(self.values, self.answers, self._unfakeable)
        self.has_backward = True
        self._progress = progress
        self._noted: set = set()
        self._process = os.getpid()

    def begin(self, forced: Mapping | None = None) -> None:
        self.answers.begin(forced)

    def begin_call(self) -> None:
        """Every call draws the same values."""
        self.values.begin_call()
        self.answers.begin_call()

    def end(self, run: int) -> list:
        """Note what was asked since `begin`."""
        found = self.answers.end()
        for each in found:
            self._progress.note(
                "answered",
                run=run,
                what=each.site[2],
                frames=each.frames,
                answers=[shown(answer) for answer in each.answers if answer != ""],
                assumed=each.assumed,
                forced=each.forced,
                count=each.count,
            )
        return found

    def place(self, target: Target, device: torch.device) -> Target:
        """The target on its device; what stands on the meta device, without a place, too."""
        if device.type != "cpu":
            args, kwargs = tensors.move_values((target.args, target.kwargs), device)
            target = replace(target, args=args, kwargs=kwargs)
            target = replace(target, function=tensors.move_function(target.function, device))
        return self._with_plain_numbers(self._off_meta(target, device))

    def _off_meta(self, target: Target, device: torch.device) -> Target:
        """Parameters, buffers and arguments on the meta device get fake ones with a place."""
        found = 0

        def empty(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal found
            if tensor.device.type != "meta":
                return tensor
            found += 1
            made = torch.empty_like(tensor, device=device)
            return made.requires_grad_(tensor.requires_grad) if tensor.is_leaf else made

        for module in _modules(target.function):
            if any(t.device.type == "meta" for t in (*module.parameters(), *module.buffers())):
                module._apply(empty)
        args, kwargs = pytree.tree_map_only(torch.Tensor, empty, (target.args, target.kwargs))
        if found and "meta" not in self._noted and not self._in_fork():
            self._noted.add("meta")
            text = f"tensors on the meta device are taken to be on {device}"
            self._progress.note("note", text=text)
        return replace(target, args=args, kwargs=kwargs)

    def _with_plain_numbers(self, target: Target) -> Target:
        """Arguments of no dimension stay real tensors: Dynamo takes the number out of them."""

        def real(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.dim() or tensor.device.type != "cpu" or tensor.requires_grad:
                return tensor
            value = self.values.of(tensor)
            return tensor if value is None else value.real.clone()

        with unset_fake_temporarily():
            args, kwargs = pytree.tree_map_only(FakeTensor, real, (target.args, target.kwargs))
        return replace(target, args=args, kwargs=kwargs)

    def size_of(self, target: Target) -> dict[str, int]:
        """How many numbers the target's modules would have, and their bytes."""
        found = {
            id(tensor): tensor
            for module in _modules(target.function)
            for tensor in (*module.parameters(), *module.buffers())
        }.values()
        return {
            "elements": sum(tensor.numel() for tensor in found),
            "bytes": sum(tensor.numel() * tensor.element_size() for tensor in found),
        }

    def _in_fork(self) -> bool:
        """In that of the calls in eager; the same calls follow under Dynamo."""
        return os.getpid() != self._process

    def _unfakeable(self, what: str, problem: str) -> None:
        if self._in_fork():
            return
        found = frames()
        key = (what, *(found[-1][:2] if found else ()))
        if key not in self._noted:
            self._noted.add(key)
            self._progress.note("unfakeable", what=what, problem=problem, frames=found)


@contextmanager
def faking(job: Mapping[str, Any], progress: Progress) -> Iterator[Session]:
    """A fake run around the block. Afterwards torch's classes, the modes, the default device and
    the random state are as before."""
    torch._dynamo.trace_rules.add("breakscope.dynamic.child.fake")  # our code is no program's
    session = Session(progress)
    with ExitStack() as stack:
        stack.enter_context(_random_state())
        if str(job["device"] or "").startswith("cuda"):
            device = stack.enter_context(as_on_cuda())
            session.has_backward = device["backward"]
            progress.note("fake device", **device)
        if job["fake"]["world_size"] > 1:
            ranks = as_rank(job["fake"]["rank"], job["fake"]["world_size"])
            if problem := stack.enter_context(ranks):
                progress.note("note", text=f"no fake ranks: {problem}")
        stack.enter_context(answered(session.mode))
        stack.enter_context(replaced_parameters())
        stack.enter_context(unpacked())
        stack.enter_context(session.mode)
        yield session


@contextmanager
def _random_state() -> Iterator[None]:
    before, python = torch.get_rng_state(), random.getstate()
    device = torch.get_default_device()
    try:
        yield
    finally:
        torch.set_rng_state(before)
        random.setstate(python)
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)


def _modules(function: Callable) -> list[torch.nn.Module]:
    """The modules that a callable is or holds."""
    held = [function, getattr(function, "__self__", None)]
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # the cell is empty
            held.append(cell.cell_contents)
    return [one for one in held if isinstance(one, torch.nn.Module)]
