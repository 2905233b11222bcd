"""The modules behind a checked file: what follows from their source alone, and so is shared by all
files of a check.

The namespace of such a module is made as Python would import it first: its top level runs, and with
it once those of the modules that it needs, which see only a part of it where they import it back.
Nothing that was done for another file can reach it. What the others of a circle have become by that
holds for this one import only: who asks first must not decide what anyone sees. Where so many import
each other that this takes too long, all of them are what the first by its path makes of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from breakscope import limits
from breakscope.rulekit.values import (
    Class,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Sequence,
    Union,
    Value,
)
from breakscope.static.machine.budget import exec_apart
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.settings import open_settings
from breakscope.static.project.modules import ClassInfo, FunctionInfo, ModuleInfo
from breakscope.static.project.program import Program
from breakscope.static.project.reads import Kept, Record
from breakscope.static.project.recursion import own_recursion

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine

OUTSIDE = sys.maxsize  # where no module runs


class Run(Struct, eq=False):
    """One run of a module's top level. `reads` are the modules whose namespaces it took, as bits;
    `needs` is the place, in the row of those that are running, of the outermost that it depends on:
    its own while it depends on none but itself, OUTSIDE once its namespace holds for good."""

    reads: int
    needs: int
    names: dict[str, Value] | None = None  # once it is done
    record: Record | None = None  # what it was made from; of one that is running, so far
    machine: Machine | None = None  # that ran it


class World:
    """The modules behind the files of one package, made when they are first asked for."""

    def __init__(
        self, program: Program, make_machine: Callable[[World, ModuleInfo], Machine]
    ) -> None:
        """`make_machine` gives the machine that runs a module."""
        self.program = program
        self.shared: dict[int, object] = {}  # what several files see, by id
        self.inner_homes: dict[int, tuple[Value, str]] = {}  # as of Objects, of shared values
        self.hooks: dict[int, list] = {}  # as of Objects, of shared values
        self.machines: list[Machine] = []  # those at work, the innermost last
        self._make_machine = make_machine
        self._modules: Kept[ModuleInfo | None] = Kept(program.reads)
        self._bits: dict[str, int] = {}
        self._lasting: dict[str, Run] = {}
        self._running: list[Run] = []  # the innermost last
        # the runs that one which is running began and that do not hold for good, in the order in
        # which they began
        self._runs: dict[str, Run] = {}
        self._unsettled = 0  # the modules of these runs

    def module(self, path: str) -> ModuleInfo | None:
        """The module of a file; None when it cannot be read as Python."""
        return self._modules.get(path, lambda: self.program.module_or_none(path))

    def names(self, module: ModuleInfo) -> dict[str, Value]:
        """The module's namespace after its top level has run (without emitting anything); what
        there is of it when it is running."""
        if not self._running and (run := self._lasting.get(module.path)) is not None:
            self.program.reads.note(run.record)
            return run.names
        run = self._runs.get(module.path) if self._running else None
        if run is None:
            run = self._lasting.get(module.path)
            if run is None or run.reads & self._unsettled:
                run = self._run(module)
        self.program.reads.note(run.record)
        if self._running:
            asking = self._running[-1]
            asking.reads |= run.reads
            asking.needs = min(asking.needs, run.needs)
        return module.names if run.names is None else run.names

    def _bit(self, module: ModuleInfo) -> int:
        bit = self._bits.get(module.path)
        if bit is None:
            bit = self._bits[module.path] = 1 << len(self._bits)
        return bit

    @contextmanager
    def _alone(self, module: ModuleInfo) -> Iterator[Machine]:
        """A machine for a module, for which all others have changed nothing: those that asked the
        innermost were put aside when it began."""
        machine = self._make_machine(self, module)
        asking = self.machines[-1]
        asking.journal.swap()
        self.machines.append(machine)
        try:
            yield machine
        finally:
            self.machines.pop()
            machine.journal.take_back()
            asking.journal.swap()

    def _run(self, module: ModuleInfo) -> Run:
        own = len(self._running)
        run = self._runs[module.path] = Run(self._bit(module), own)
        circle: dict[str, Run] = {}
        self._unsettled |= run.reads
        self._running.append(run)
        module.names, module.executing = module.first_names(is_imported=True), True
        try:
            with (
                own_recursion(),
                self.program.reads.record() as run.record,
                self._alone(module) as run.machine,
            ):
                run_top_level(run.machine, module)
                module.gaps = run.machine.file.gaps.all()
            run.names = module.names
        finally:
            self._running.pop()
            module.names, module.executing = None, False
            if run.names is None or run.needs == own:
                circle = self._end_runs(module.path)
        if run.needs < own:
            self._wait(run)
            return run
        if len(circle) <= limits.LARGEST_CIRCLE:
            circle = {module.path: run}
        elif (first := self.module(min(circle))) is not module:
            self._run(first)
            if module.path in self._lasting:
                return self._lasting[module.path]
            circle = {module.path: run}
        for path, other in circle.items():
            other.needs, other.reads, other.record = OUTSIDE, run.reads, run.record
            self._lasting[path] = other
            self._share([*other.names.values()], other.machine)
            other.machine = None
        return run

    def _end_runs(self, path: str) -> dict[str, Run]:
        """Forget a run, and those that it began and that wait for it: they were for it only; returns them by path."""
        ended: dict[str, Run] = {}
        while path not in ended:
            last, ended[last] = self._runs.popitem()
            self._unsettled &= ~self._bits[last]
        return ended

    def _wait(self, run: Run) -> None:
        """Let the runs that a run began need all that it needs: they saw a part of it."""
        for other in reversed(self._runs.values()):
            other.needs = min(other.needs, run.needs)
            if other is run:
                break

    def _share(self, waiting: list[object], machine: Machine) -> None:
        """Note what is reachable from some values: a file that changes it has to take that back."""
        shared = self.shared
        while waiting:
            value = waiting.pop()
            kind = type(value)
            key = id(value)
            if kind not in _PARTS or key in shared:
                continue
            shared[key] = value
            if key in machine.objects.inner_homes:
                self.inner_homes[key] = machine.objects.inner_homes[key]
            if key in machine.objects.hooks:
                self.hooks[key] = machine.objects.hooks[key]
            waiting.extend(_PARTS[kind](value))


def run_top_level(machine: Machine, module: ModuleInfo) -> None:
    """Run a module's top level, without emitting anything; a statement that cannot be followed
    does not stop the next."""
    frame = Frame(module)
    frame.names = module.names
    machine.objects.executing += 1
    try:
        for statement in module.tree.body:
            try:
                exec_apart(machine, statement, frame)
            except Raised:
                pass
            module.names = frame.names  # another object behind every branch
    finally:
        module.names = frame.names
        machine.objects.executing -= 1
    if not module.library:  # what its own functions set, whoever uses a package hardly ever does
        open_settings(module)


def _of_function(function: Function) -> Iterable[object]:
    kept = (part for _, part in function.kwargs)
    return (function.info, function.bound, function.scope, *function.args, *kept)


def _of_info(info: FunctionInfo) -> Iterable[object]:
    return info.defaults.values() if info.defaults else ()


_PARTS: dict[type, Callable[[object], Iterable[object]]] = {
    Sequence: lambda value: (*(value.items or ()), value.element),
    Dict: lambda value: (*value.items.values(), value.element),
    Instance: lambda value: (value.cls, *value.attributes.values()),
    Class: lambda value: (value.info,),
    ClassInfo: lambda info: (info.scope, *info.stored.values()),
    Function: _of_function,
    FunctionInfo: _of_info,
    Method: lambda value: (value.receiver,),
    Union: lambda value: value.options,
    ExternalInstance: lambda value: (*value.args, *(part for _, part in value.kwargs)),
    Frame: lambda value: (*value.names.values(), value.scope, value.bound),
}
