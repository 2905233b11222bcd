"""Functions and methods, their code objects, and the cells of their closures."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from breakscope.rulekit.values import UNKNOWN, Code, Const, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import is_module
from breakscope.static.definitions.code_objects import cells, code_attribute
from breakscope.static.definitions.names import lookup_name
from breakscope.static.machine.compiled_names import name_of
from breakscope.static.machine.driver import INFERENCE, OFF
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join
from breakscope.static.machine.library import CONTAINER_TYPES, PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.versions import version_made_by
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.side_effects import note_outside

MODULES = ("ModuleList", "Sequential")  # containers of them, as a Sequence has it


def _driven_call(machine: Machine, callee, args, kwargs, node, frame) -> Value:
    """A call that the file's own code makes; what is compiled is followed as a whole."""
    driver = machine.driver
    undecided, driver.undecided = driver.undecided, driver.undecided or frame.may_not_happen()
    watch = None
    is_compiled = machine.file.is_called_compiled(callee)
    machine.file.note_place(callee, is_compiled)
    if is_compiled:
        values = _values_of(machine, callee, args, kwargs)
        watch = driver.note(callee, args, kwargs, values, _modules_in(machine, values))
        driver.inside = True
    try:
        with watch.watching(machine, callee) if watch is not None else nullcontext():
            return machine.inline(callee, args, kwargs, node, frame)
    finally:
        driver.undecided, driver.inside = undecided, False


def _followed_call(machine: Machine, callee, args, kwargs, node, frame) -> Value:
    """A call outside of regions."""
    driver = machine.driver
    if driver.calls is not None and not driver.inside:
        return _driven_call(machine, callee, args, kwargs, node, frame)
    if driver.inside:
        machine.file.note_place(callee, True)
        if not frame.may_not_happen():
            driver.note_inner(callee, args, kwargs)
    return machine.inline(callee, args, kwargs, node, frame)


@contextmanager
def _decorated(machine: Machine, callee) -> Iterator[None]:
    """The global state in which a function under `@torch.no_grad()` and its like runs."""
    state = machine.driver.state
    before = dict(state)
    decorated = _state_of_decorators(callee) if machine.driver.function is not None else {}
    state.update(decorated)
    try:
        yield
    finally:
        for what in decorated:
            state[what] = before.get(what, "")


def _values_of(machine: Machine, callee, args, kwargs) -> tuple[Value, ...]:
    """What a function is given, or has by name."""
    names = dict.fromkeys(part.id for part in walk(callee.info.node) if type(part) is ast.Name)
    frame = Frame(callee.info.module, callee.info, callee.scope, None, False, 0, "")
    held = [lookup_name(machine, name, frame) for name in names]
    return (*callee.args, *args, *kwargs.values(), *held)


def _modules_in(machine: Machine, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The modules among these: what is changed of them is guarded."""
    return tuple(v for v in values if is_module(machine, v) or getattr(v, "type", "") in MODULES)


def _state_of_decorators(callee) -> dict[str, str]:
    """What is global while a function under `@torch.no_grad()` and its like runs."""
    for decorator in getattr(callee.info.node, "decorator_list", ()):
        name = name_of(getattr(decorator, "func", decorator))
        if name in ("no_grad", "inference_mode"):
            return {"grad_mode": OFF if name == "no_grad" else INFERENCE}
    return {}


class RoutineVariable(Variable):
    """A function or a method: neither a number, a container nor a module of torch's, and always true."""

    def has_type(self, value, name) -> bool | None:
        is_other = name in PYTHON_TYPES or name in CONTAINER_TYPES or name.startswith("torch.nn.")
        return False if is_other else None

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return False

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        return True


class FunctionVariable(RoutineVariable):
    """A function or lambda of the checked source, bound or not."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        if not frame.emits:
            if (known := version_made_by(callee.info, args)) is not None:
                return known
            machine.file.note_call(callee, args, kwargs)
            with _decorated(machine, callee):
                return _followed_call(machine, callee, args, kwargs, node, frame)
        if "deprecated" in callee.info.marks:
            emit_call(machine, "warnings.deprecated", callee, args, kwargs, node, frame)
        return machine.inline(callee, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name in ("__name__", "__qualname__"):
            return Const(owner.info.name)
        if name == "__code__":
            return Code(owner.info)
        if name == "__closure__":
            return cells(owner)
        if frame.emits:
            machine.region.note_attribute_read((id(owner.info), name), node, frame)
        return machine.objects.of_functions.get((id(owner.info), id(owner.scope), name), UNKNOWN)

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        if not frame.emits:
            key = id(owner.info), id(owner.scope), name
            before = machine.objects.of_functions.get(key, UNKNOWN)
            note_outside(machine, owner.info, name, value, before, frame, node)
            machine.objects.kept.append(owner)
            machine.objects.of_functions[key] = value
            return
        made_here = owner.scope is not None and owner.scope.emits
        if not made_here:
            args = (Const(name), value)
            emit_call(machine, "function.__setattr__", owner, args, {}, node, frame)


class MethodVariable(RoutineVariable):
    """A method that is not in the checked source, not yet called."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        result = machine.call_method(callee.receiver, callee.name, args, kwargs, node, frame)
        is_compiled = callee.receiver.compiled_of is not None and result is callee.receiver.original
        return callee.receiver if is_compiled else result


class CodeVariable(Variable):
    """The code object of a function."""

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        return code_attribute(owner.info, name)


class CellVariable(Variable):
    """A cell of a closure."""

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        return owner.scope.names.get(owner.name, UNKNOWN) if name == "cell_contents" else UNKNOWN

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        if name == "cell_contents" and not frame.emits:
            before = owner.scope.names[owner.name]
            note_outside(machine, owner.scope, owner.name, value, before, frame, node)
            owner.scope.names[owner.name] = join(before, value)
