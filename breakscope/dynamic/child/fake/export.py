"""Would torch.export take the target? Its refusals, each where the program stands.

torch.export stops at its first refusal. Where it is a value that it cannot decide on, an answer is
given in its place, so that one run shows what is behind it too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from breakscope import limits
from breakscope.dynamic.child.calls import Plan, build
from breakscope.dynamic.child.fake.answers import frames
from breakscope.dynamic.child.fake.session import Session
from breakscope.dynamic.child.load import Target, argument_tuples
from breakscope.dynamic.child.user_code import note_exception
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress

# how export asks for a value: what a number of unknown value is taken for there
ASKED = {"guard_bool": False, "guard_int": limits.ASSUMED_SIZE, "guard_float": 1.0}


def export(
    module: ModuleType, plan: Plan, job: dict, seconds: float, progress: Progress, fake: Session
) -> None:
    """Note what torch.export refuses, and whether it took the target in the end."""
    if not job["fake"]["export"]:
        return
    if plan.drive:
        progress.note("exported", outcome="left out", why="--drive makes the calls itself")
        return
    if job["deadline"] - time.time() < limits.FEWEST_SECONDS + seconds:
        progress.note("exported", outcome="left out", why="the time limit was near")
        return
    torch._dynamo.reset()
    mark_phase("export")
    refused: list[str] = []
    try:
        target = build(module, plan)
        if plan.calls:
            args, kwargs = argument_tuples(module, plan.calls)[0]
            target = Target(target.function, args, kwargs)
        with unset_fake_temporarily(), _decided(_noting(progress, refused)):
            torch.export.export(_module(target.function), target.args, target.kwargs, strict=False)
    except Exception as problem:
        refused.append("")
        note_exception(_Refusals(progress), "export", problem)
    finally:
        mark_phase("between")
    progress.note("exported", outcome="refused" if refused else "taken", why="")


def _noting(progress: Progress, refused: list[str]) -> Callable[[str], None]:
    def note(reason: str) -> None:
        found = frames()
        place = repr(found[-1][:2]) if found else ""
        if place not in refused:
            refused.append(place)
            progress.note(
                "refused", type="GuardOnDataDependentSymNode", message=reason, frames=found
            )

    return note


class _Refusals:
    """A progress log in which an error of export is a refusal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def note(self, event: str, **facts: Any) -> None:
        self._progress.note("refused", **{k: v for k, v in facts.items() if k != "stage"})


@contextmanager
def _decided(note: Callable[[str], None]) -> Iterator[None]:
    """What cannot be decided is noted and gets an answer."""
    originals = {name: getattr(SymNode, name) for name in ASKED}

    def deciding(name: str) -> Callable:
        def ask(self: SymNode, file: str, line: int) -> Any:
            try:
                return originals[name](self, file, line)
            except GuardOnDataDependentSymNode as problem:
                note(str(problem).partition("\n")[0])
                return ASKED[name]

        return ask

    for name in ASKED:
        setattr(SymNode, name, deciding(name))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(SymNode, name, original)


def _module(function: Callable) -> torch.nn.Module:
    """export takes modules only."""
    if isinstance(function, torch.nn.Module):
        return function

    class Function(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            owner = getattr(function, "__self__", None)
            if isinstance(owner, torch.nn.Module):
                self.owner = owner

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    return Function()
