"""What the methods of a class assign to attributes of an object that nothing was seen to make."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import NONE, UNKNOWN, Instance, Tensor, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import mro_of
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo
from breakscope.static.variables.objects.prepared import (
    is_attribute_of,
    methods_of,
    value_in_method,
)


def assigned_tensor(machine: Machine, owner: Instance, name: str) -> Value:
    """The tensor that the attribute is where all that methods of the class assign to it are tensors, or
    None beside them; else unknown."""
    key = (id(owner), name)
    if key not in machine.objects.assigned:
        machine.objects.assigned[key] = UNKNOWN  # for a value that is computed from the attribute
        machine.objects.assigned[key] = _joined(machine, owner, name)
    return machine.objects.assigned[key]


def _joined(machine: Machine, owner: Instance, name: str) -> Value:
    found: list[Value] = []
    is_none = False
    for cls in mro_of(machine, owner.cls.info):
        for method, value in _assigned(cls, name):
            if isinstance(value, ast.Constant) and value.value is None:
                is_none = True
                continue
            made = value_in_method(machine, cls, method, value)
            if not isinstance(made, Tensor):
                return UNKNOWN
            found.append(Tensor(made.dtype, made.ndim, None, True, made.kind, "argument"))
    if not found:
        return UNKNOWN
    return join(join_all(found), NONE) if is_none else join_all(found)


def _assigned(cls: ClassInfo, name: str) -> list[tuple[ast.FunctionDef, ast.expr]]:
    """The methods of a class body that assign to the attribute of their object, with the expressions."""
    found: list[tuple[ast.FunctionDef, ast.expr]] = []
    for _, method in methods_of(cls):
        own = method.args.args[0].arg
        for part in walk(method):
            if type(part) is ast.Assign:
                targets, value = part.targets, part.value
            elif type(part) is ast.AnnAssign and part.value is not None:
                targets, value = [part.target], part.value
            else:
                continue
            if any(is_attribute_of(own, target) and target.attr == name for target in targets):
                found.append((method, value))
    return found
