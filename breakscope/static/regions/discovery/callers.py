"""Compiled functions that are no module's `forward`, and what the program itself hands to them.

A training step is such a function: what its optimizer and its model are, stands where it is
called. What makes or calls one is run as outside of regions; a main guard, which the module's top
level runs, needs none of this.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.values import Class, Const, Function, Instance, Tensor, Value
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import bound_to, find_member, is_module_class, members_of
from breakscope.static.definitions.names import module_names, starts_program
from breakscope.static.machine.compiled_names import compiles
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.configured import configured_instance

COMPILES = re.compile(r"torch(?<!\wtorch)\s*\.\s*compile\b")


def follow_callers(machine: Machine, module: ModuleInfo) -> list[Function]:
    """Run what makes and calls compiled functions; returns the methods that are compiled."""
    if not starts_program(machine, module):
        return []
    own = [v for v in module_names(machine, module).values() if _is_own(v, module)]
    methods: list[Function] = []
    made: dict[int, Instance] = {}
    for cls in (v for v in own if isinstance(v, Class)):
        holder = bool(compiles(cls.info.node)) and configured_instance(machine, cls)
        if holder:
            made[id(cls.info)] = holder
            methods += _compiled_methods(machine, cls, holder)
    callers = machine.file.compiled_names().callers
    for value in own:
        if isinstance(value, Function) and id(value.info.node) in callers:
            _run(machine, value)
        elif isinstance(value, Class) and not is_module_class(machine, value.info):
            for name, member in members_of(value.info).items():
                if name != "__init__" and id(member) in callers:
                    holder = made.get(id(value.info)) or configured_instance(machine, value)
                    made[id(value.info)] = holder
                    _run(machine, bound_to(find_member(machine, value.info, name), holder))
    return methods


def _is_own(value: Value, module: ModuleInfo) -> bool:
    return isinstance(value, Class | Function) and value.info.module is module


def _compiled_methods(machine: Machine, cls: Class, holder: Instance) -> Iterator[Function]:
    """The methods under `@torch.compile`; a module's `forward` is a region anyway."""
    is_module = is_module_class(machine, cls.info)
    for name, member in members_of(cls.info).items():
        if isinstance(member, ast.FunctionDef) and not (is_module and name == "forward"):
            method = bound_to(find_member(machine, cls.info, name), holder)
            if isinstance(method, Function) and "compiled" in method.info.marks:
                yield method


def _run(machine: Machine, function: Value) -> None:
    """Follow a function with the arguments that its signature shows."""
    if not isinstance(function, Function) or "compiled" in function.info.marks:
        return
    info = function.info
    outside = Frame(info.module)
    machine.budget.begin()
    with machine.driver.following(info, machine.file.compiled_names()) as found:
        try:
            args, kwargs = parameter_values(machine, function, False)
            defaults = defaults_of(machine, info, function.scope)
            own = [p.arg for p in positional_parameters(info.node)]
            own = own[function.bound is not None :]
            args = [_as_given(defaults.get(name), v) for name, v in zip(own, args)]
            kwargs = {name: _as_given(defaults.get(name), v) for name, v in kwargs.items()}
            machine.call(function, args, kwargs, info.node, outside)
        except Raised:
            pass
        except OutOfBudget as problem:
            machine.give_up(why(problem), info.node, outside)
    machine.file.programs.extend(found)


def _as_given(default: Value | None, value: Value) -> Value:
    """What nobody knows who hands it over: a tensor of any kind; a number is its default unless somebody says
    otherwise, how often a loop runs, or what its rate is."""
    if type(value) is Tensor:
        return replace(value, sure=False)
    is_number = type(default) is Const and type(default.value) in (int, float)
    return default if is_number else value
