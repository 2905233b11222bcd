"""Functions that a file puts in the place of a module's `forward`: Dynamo traces them where that module is
called, whichever it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from breakscope.rulekit.values import UNKNOWN, Class, External, Function, Value
from breakscope.rulekit.walking import last_name, nodes_of, positional_parameters
from breakscope.static.definitions.classes import is_module_class
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.discovery.callers import COMPILES
from breakscope.static.regions.discovery.evidence import PATCHED, REPLACED, Evidence
from breakscope.static.regions.discovery.hooks import (
    around,
    classes_at,
    functions_of,
    is_of,
    key_of_hook,
)

FORWARD = "forward"
REPLACES = re.compile(r"\.forward\s*=(?!=)|setattr\([^\n]*[\"']forward[\"']")
# called with a function, each gives it back
WRAPS = frozenset({"update_wrapper", "wraps"})


def replaced_forwards(
    machine: Machine, module: ModuleInfo
) -> list[tuple[Function, list[Value], dict[str, Value], Evidence]]:
    """The functions of a file that it makes the `forward` of a module, what each is called with, and whether it
    is for good: a module does it, it is done to a class, or the file compiles something. Others look at a model, or convert it."""
    if REPLACES.search(module.source) is None:
        return []
    names = module_names(machine, module)
    classes = classes_at(module, names)
    is_compiled = COMPILES.search(module.source) is not None
    found: dict[tuple[int, int], tuple[Function, list[Value], dict[str, Value], Evidence]] = {}
    for statement in module.tree.body:
        cls = classes.get(statement)
        is_module = cls is not None and is_module_class(machine, cls.info)
        for outer, owner, given in _replacements(statement):
            frame = around(machine, module, names, cls, outer)
            wanted, takes_module = _unwrapped(given)
            of_class = _is_class(machine, owner, frame)
            takes_module = takes_module or of_class
            evidence = REPLACED if is_module or of_class or is_compiled else PATCHED
            for function in functions_of(machine, wanted, frame, outer):
                if is_of(module, function) and not _is_forward(machine, function):
                    called = (function, *_arguments(machine, function, takes_module), evidence)
                    found.setdefault(key_of_hook(function), called)
    return list(found.values())


def _replacements(
    statement: ast.stmt,
) -> Iterator[tuple[ast.FunctionDef | None, ast.expr, ast.expr]]:
    """The function around each place that sets a `forward`, whose it is, and to what."""
    for outer, node in nodes_of(statement):
        if type(node) is ast.Assign and len(node.targets) == 1:
            target = node.targets[0]
            if type(target) is ast.Attribute and target.attr == FORWARD:
                yield outer, target.value, node.value
        elif type(node) is ast.Call and getattr(node.func, "id", "") == "setattr":
            if len(node.args) == 3 and getattr(node.args[1], "value", "") == FORWARD:
                yield outer, node.args[0], node.args[2]


def _unwrapped(given: ast.expr) -> tuple[ast.expr, bool]:
    """The function inside of `update_wrapper(function, old)`, `MethodType(function, module)` and the like, and
    whether it is called with the module."""
    takes_module = False
    while type(given) is ast.Call:
        called = given.func
        name = last_name(called)
        if name == "__get__":
            given, takes_module = called.value, True
        elif name == "MethodType" and len(given.args) == 2:
            given, takes_module = given.args[0], True
        elif name == "update_wrapper" and given.args:
            given = given.args[0]
        elif type(called) is ast.Call and last_name(called.func) in WRAPS and len(given.args) == 1:
            given = given.args[0]
        else:
            break
    return given, takes_module


def _is_class(machine: Machine, owner: ast.expr, frame: Frame) -> bool:
    """True for a class: its objects hand themselves to what is set on it."""
    if getattr(owner, "id", "") == "cls" or getattr(owner, "attr", "") == "__class__":
        return True
    try:
        value = machine.eval(owner, frame)
    except (Raised, OutOfBudget):
        return False
    return isinstance(value, Class | External)


def _is_forward(machine: Machine, function: Function) -> bool:
    """True for the `forward` of a module class, which is a region anyway."""
    owner = function.info.owner
    return owner is not None and function.info.name == FORWARD and is_module_class(machine, owner)


def _arguments(
    machine: Machine, function: Function, takes_module: bool
) -> tuple[list[Value], dict[str, Value]]:
    """What a module's caller hands over, with the module itself where the function takes it."""
    values, named = parameter_values(machine, function, True)
    values = values[len(function.args) :]  # others are given by functools.partial
    first = next(iter(positional_parameters(function.info.node)), None)
    is_free = function.bound is None and not function.args and first is not None
    if is_free and (takes_module or first.arg == "self") and first.annotation is None:
        values[0] = UNKNOWN
    taken = {name for name, _ in function.kwargs}
    return values, {name: value for name, value in named.items() if name not in taken}
