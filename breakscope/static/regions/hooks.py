"""Functions that a file registers as forward hooks: Dynamo traces them with the module that they are
put on, whichever that is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    Function,
    Sequence,
    Tensor,
    Value,
    options,
)
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.classes import bound_to, find_member
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import configured_instance, parameter_values
from breakscope.static.regions.parameter_uses import Usage

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
    """The hooks of a file: functions and methods of it, what is defined where it is registered, what
    another function of it makes, and the entries of a table."""
    source = module.source
    if not any(name in source for name in REGISTERS):
        return []
    names = module_names(machine, module)
    classes = {
        value.info.node: value
        for value in names.values()
        if isinstance(value, Class) and value.info.module is module
    }
    found: dict[int, Function] = {}
    for statement in module.tree.body:
        cls = classes.get(statement)
        for outer, hook in _registered(statement):
            frame = _frame(machine, module, names, cls, outer)
            for value in _functions(machine, hook, frame, outer):
                if value.info.module is module:
                    found.setdefault(id(value.info), value)
    return list(found.values())


def _registered(statement: ast.stmt) -> Iterator[tuple[ast.FunctionDef | None, ast.expr]]:
    """What is registered, and the function or method around it; none at the top of the file."""
    outer = statement.body if isinstance(statement, ast.ClassDef) else [statement]
    for part in outer:
        for node in walk(part):
            if type(node) is ast.Call:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = node.args[:1] or [k.value for k in node.keywords if k.arg == "hook"]
                if name in REGISTERS and given:
                    yield part if isinstance(part, ast.FunctionDef) else None, given[0]


def _frame(
    machine: Machine,
    module: ModuleInfo,
    names: dict[str, Value],
    cls: Class | None,
    outer: ast.FunctionDef | None,
) -> Frame:
    """Where a hook is registered: in a function or method, whose parameters and inner functions the
    frame has."""
    frame = Frame(module, None, None, None, False, 0, "")
    if outer is None:
        return frame
    function = resolve_import(machine, names.get(outer.name, UNKNOWN))
    if cls is not None:
        member = find_member(machine, cls.info, outer.name)
        function = bound_to(member, configured_instance(machine, cls))
    if not isinstance(function, Function) or function.info.node is not outer:
        return frame
    values, named = parameter_values(machine, function, False)
    owner = [] if function.bound is None else [function.bound]
    info = function.info
    frame = Frame(module, info, function.scope, None, False, 0, info.qualname)
    frame.names = bind_arguments(machine, info, [*owner, *values], named, function.scope)
    for inner in walk(outer):
        if isinstance(inner, ast.FunctionDef) and inner is not outer:
            machine.exec(inner, frame)
    return frame


def _functions(
    machine: Machine, hook: ast.expr, frame: Frame, outer: ast.FunctionDef | None
) -> list[Function]:
    """What the expression may be: a function by its name, out of a table, or as another makes it."""
    if isinstance(hook, ast.Name) and outer is not None and hook.id not in frame.names:
        given = [
            part.value
            for part in walk(outer)
            if isinstance(part, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == hook.id for t in part.targets)
        ]
        hook = given[0] if len(given) == 1 else hook
    table = _table(hook)
    try:
        value = machine.eval(hook if table is None else table, frame)
    except (Raised, OutOfBudget):
        return []
    if table is not None:
        values = [*value.items.values(), value.element] if isinstance(value, Dict) else []
    else:
        values = [value]
    return [v for value in values for v in options(value) if isinstance(v, Function)]


def _table(hook: ast.expr) -> ast.expr | None:
    """`TABLE` of `TABLE[key]` and `TABLE.get(key)`: which entry is taken, some module's class
    decides."""
    if isinstance(hook, ast.Subscript):
        return hook.value
    is_get = isinstance(hook, ast.Call) and getattr(hook.func, "attr", "") == "get"
    return hook.func.value if is_get else None


def hook_arguments(machine: Machine, hook: Function) -> tuple[list[Value], dict[str, Value]]:
    """The module, the tuple of what it is given, and for a hook behind it what it returns."""
    spec = hook.info.node.args
    first = (hook.bound is not None) + len(hook.args)
    parameters = [*spec.posonlyargs, *spec.args][first:]
    given: dict[str, Value] = {parameters[1].arg: GIVEN} if len(parameters) > 1 else {}
    if len(parameters) > 2 and "isinstance" in Usage(hook.info).of(parameters[2].arg):
        given[parameters[2].arg] = join(GIVEN.element, GIVEN)
    values, named = parameter_values(machine, hook, True, given)
    if parameters and parameters[0].annotation is None:
        values[len(hook.args)] = UNKNOWN  # the module, which is no tensor however it is used
    taken = {name for name, _ in hook.kwargs}  # by functools.partial, as hook.args are
    free = zip(parameters, values[len(hook.args) :], strict=False)
    return (
        [value for parameter, value in free if parameter.arg not in taken],
        {name: value for name, value in named.items() if name not in taken},
    )
