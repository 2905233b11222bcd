"""Functions that a file registers as forward hooks: Dynamo traces them with the module that they are
put on, whichever that is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.values import UNKNOWN, Class, Function, Sequence, Tensor, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import bound_to, find_member
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import configured_instance, parameter_values

REGISTERS = frozenset(
    {
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_module_forward_hook",
        "register_module_forward_pre_hook",
    }
)
GIVEN = Sequence("tuple", None, Tensor(sure=False, origin="argument"))  # what the module is given


def registered_hooks(machine: Machine, module: ModuleInfo) -> list[Function]:
    """The hooks of a file: its functions, and methods that a class registers of itself."""
    if "_forward_" not in module.source:
        return []
    names = module_names(machine, module)
    classes = {
        value.info.node: value
        for value in names.values()
        if isinstance(value, Class) and value.info.module is module
    }
    found: dict[int, Function] = {}
    for statement in module.tree.body:
        for hook in _registered(statement):
            value = _function(machine, names, classes.get(statement), hook)
            if isinstance(value, Function) and value.info.module is module:
                found.setdefault(id(value.info), value)
    return list(found.values())


def _registered(statement: ast.stmt) -> Iterator[ast.expr]:
    for node in walk(statement):
        if type(node) is ast.Call:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[:1] or [k.value for k in node.keywords if k.arg == "hook"]
            if name in REGISTERS and given:
                yield given[0]


def _function(
    machine: Machine, names: dict[str, Value], cls: Class | None, hook: ast.expr
) -> Value | None:
    if isinstance(hook, ast.Name):
        value = names.get(hook.id)
        return None if value is None else resolve_import(machine, value)
    if cls is None or not isinstance(hook, ast.Attribute) or not isinstance(hook.value, ast.Name):
        return None
    member = find_member(machine, cls.info, hook.attr)
    if not isinstance(member, Function) or hook.value.id not in ("self", "cls", cls.info.name):
        return None
    return bound_to(member, configured_instance(machine, cls))


def hook_arguments(machine: Machine, hook: Function) -> tuple[list[Value], dict[str, Value]]:
    """The module, the tuple of what it is given, and for a hook behind it what it returns."""
    spec = hook.info.node.args
    parameters = [*spec.posonlyargs, *spec.args][hook.bound is not None :]
    given = {parameters[1].arg: GIVEN} if len(parameters) > 1 else {}
    values, named = parameter_values(machine, hook, True, given)
    if parameters and parameters[0].annotation is None:
        values[0] = UNKNOWN  # the module, which is no tensor however it is used
    return values, named
