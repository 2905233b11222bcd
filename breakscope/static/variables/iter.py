"""Generators, and generator functions that serve as context managers."""

from __future__ import annotations

from breakscope.rulekit.events import Enter
from breakscope.rulekit.values import Value
from breakscope.static.machine.lattice import element_of
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.lists import ListVariable

GENERATOR = "function under contextlib.contextmanager"  # as the tables call it


class GeneratorVariable(ListVariable):
    """What a generator function returned; under `with`, a function that became a context
    manager."""

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        if value.items is not None and len(value.items) != count:
            return None  # some were taken before
        return value.items

    def enter(self, machine: Machine, manager, node, frame) -> Value:
        machine.emit(Enter, node, frame, name=GENERATOR, value=manager, args=(), kwargs={})
        return element_of(manager)

    def skips_frame(self, machine: Machine, manager) -> bool:
        return True
