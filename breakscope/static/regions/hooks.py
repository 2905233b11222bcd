"""Functions that a file registers as forward hooks: Dynamo traces them with the module that they are
put on, whichever that is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.values import UNKNOWN, Class, Function, Sequence, Tensor, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.classes import bound_to, find_member, members_of
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Frame
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
    """The hooks of a file: its functions, methods that a class registers of itself, and what
    is defined where it is registered."""
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
            if value is None and isinstance(hook, ast.Name):
                value = _inner_function(machine, names, classes.get(statement), statement, hook)
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


def _inner_function(
    machine: Machine,
    names: dict[str, Value],
    cls: Class | None,
    statement: ast.stmt,
    hook: ast.Name,
) -> Value | None:
    """A function that is defined where it is registered: in a function, or in a method of a
    class, whose parameters it sees."""
    for outer in [statement] if cls is None else members_of(cls.info).values():
        parts = list(walk(outer)) if isinstance(outer, ast.FunctionDef) else []
        inner = [p for p in parts if isinstance(p, ast.FunctionDef) and p.name == hook.id]
        if not inner or hook not in parts:
            continue
        function = names.get(outer.name)
        if cls is not None:
            member = find_member(machine, cls.info, outer.name)
            function = bound_to(member, configured_instance(machine, cls))
        if isinstance(function, Function):
            return _defined_in(machine, function, inner[0])
    return None


def _defined_in(machine: Machine, outer: Function, node: ast.FunctionDef) -> Value | None:
    """The function that a definition in another function makes."""
    values, named = parameter_values(machine, outer, False)
    owner = [] if outer.bound is None else [outer.bound]
    qualname = outer.info.qualname
    frame = Frame(outer.info.module, outer.info, outer.scope, None, False, 0, qualname)
    frame.names = bind_arguments(machine, outer.info, [*owner, *values], named, outer.scope)
    machine.exec(node, frame)
    return frame.names.get(node.name)


def hook_arguments(machine: Machine, hook: Function) -> tuple[list[Value], dict[str, Value]]:
    """The module, the tuple of what it is given, and for a hook behind it what it returns."""
    spec = hook.info.node.args
    parameters = [*spec.posonlyargs, *spec.args][hook.bound is not None :]
    given = {parameters[1].arg: GIVEN} if len(parameters) > 1 else {}
    values, named = parameter_values(machine, hook, True, given)
    if parameters and parameters[0].annotation is None:
        values[0] = UNKNOWN  # the module, which is no tensor however it is used
    return values, named
