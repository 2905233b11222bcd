"""The modules behind a checked file: what follows from their source alone, and so is shared by all
files of a check.

The namespace of such a module is made by a machine of its own, which nothing that was done for
another file can reach. Where modules import each other in a circle, a namespace that was made while
another module's top level was still running holds only until that one is done: who asks first must
not decide what anyone sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from breakscope.rulekit.values import (
    UNKNOWN,
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
from breakscope.static.machine.frames import Frame
from breakscope.static.project.modules import ClassInfo, FunctionInfo, ModuleInfo
from breakscope.static.project.program import Program

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine


class World:
    """The modules behind the files of one package, made when they are first asked for."""

    def __init__(self, program: Program, make_machine: Callable[[World], Machine]) -> None:
        """`make_machine` gives a machine that has no file of its own."""
        self.program = program
        self.shared: dict[int, object] = {}  # what several files see, by id
        self.inner_homes: dict[int, tuple[Value, str]] = {}  # as of Objects, of shared values
        self.hooks: dict[int, list] = {}  # as of Objects, of shared values
        self.machines: list[Machine] = []  # those at work, the innermost last
        self._make_machine = make_machine
        self._modules: dict[str, ModuleInfo | None] = {}
        self._bits: dict[str, int] = {}
        self._running = 0  # modules whose top level is running
        self._reads = 0  # modules whose namespace was asked for since
        # modules whose namespace is dropped when one that it waits for is done, by path
        self._provisional: dict[str, ModuleInfo] = {}
        # the namespaces that hold for good, and what they took, by path
        self._lasting: dict[str, tuple[dict[str, Value], int]] = {}

    def module(self, path: str) -> ModuleInfo | None:
        """The module of a file; None when it cannot be read as Python."""
        if path not in self._modules:
            self._modules[path] = self.program.module_or_none(path)
        return self._modules[path]

    def names(self, module: ModuleInfo) -> dict[str, Value]:
        """The module's namespace after its top level has run (without emitting anything)."""
        bit = self._bit(module)
        if module.executing:
            self._reads |= bit
        elif module.names is not None and module.reads & self._running == module.waits:
            self._reads |= bit | module.reads
        else:
            self._run(module, bit)
        return module.names

    def _bit(self, module: ModuleInfo) -> int:
        bit = self._bits.get(module.path)
        if bit is None:
            bit = self._bits[module.path] = 1 << len(self._bits)
        return bit

    @contextmanager
    def _alone(self) -> Iterator[Machine]:
        """A machine without a file, for which all others have changed nothing."""
        machine = self._make_machine(self)
        undone = [*self.machines]
        for other in reversed(undone):
            other.journal.swap()
        self.machines.append(machine)
        try:
            yield machine
        finally:
            self.machines.pop()
            machine.journal.take_back()
            for other in undone:
                other.journal.swap()

    def _run(self, module: ModuleInfo, bit: int) -> None:
        before, self._reads = self._reads, 0
        module.names, module.executing = {"__name__": UNKNOWN, "__file__": UNKNOWN}, True
        module.waits = 0
        self._running |= bit
        is_done = False
        try:
            with self._alone() as machine:
                machine.run_top_level(module)
                is_done = True
        finally:
            self._running &= ~bit
            module.executing = False
            module.reads = self._reads | bit
            self._reads |= before | bit
            if is_done:
                module.waits = module.reads & self._running
            else:
                module.names, module.reads = None, 0
            self._drop_provisional(bit)
        if module.waits:
            self._provisional[module.path] = module
        else:
            self._lasting[module.path] = module.names, module.reads
            self._share(list(module.names.values()), machine)

    def _drop_provisional(self, bit: int) -> None:
        """Forget the namespaces that waited for a module which is done now."""
        for path, module in [*self._provisional.items()]:
            if module.waits & bit:
                module.names, module.reads = self._lasting.get(path, (None, 0))
                module.waits = 0
                del self._provisional[path]

    def _share(self, waiting: list[object], machine: Machine) -> None:
        """Note what is reachable from some values: a file that changes it has to take that back."""
        self.inner_homes.update(machine.objects.inner_homes)
        self.hooks.update(machine.objects.hooks)
        shared = self.shared
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind not in _PARTS or id(value) in shared:
                continue
            shared[id(value)] = value
            waiting.extend(_PARTS[kind](value))


def _of_function(function: Function) -> Iterable[object]:
    return (function.info, function.bound, function.scope, *function.args)


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
