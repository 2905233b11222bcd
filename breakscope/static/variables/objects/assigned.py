"""What the methods of a class assign to attributes of an object that nothing was seen to make."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import NONE, UNKNOWN, Instance, Tensor, Value
from breakscope.rulekit.walking import kept_with_node, plain_parameters, walk
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
        for method, value in _assigned(cls).get(name, ()):
            if isinstance(value, ast.Constant) and value.value is None:
                is_none = True
                continue
            made = UNKNOWN
            if not _is_plain(method, value):
                made = value_in_method(machine, cls, method, value)
            if not isinstance(made, Tensor):
                return UNKNOWN
            found.append(Tensor(made.dtype, made.ndim, None, True, made.kind, "argument"))
    if not found:
        return UNKNOWN
    return join(join_all(found), NONE) if is_none else join_all(found)


def _is_plain(method: ast.FunctionDef, value: ast.expr) -> bool:
    """True for a constant, and for a name that is no annotated parameter: of these nothing is known to be
    a tensor. Most of what constructors of configurations assign is that."""
    if not isinstance(value, ast.Name):
        return isinstance(value, ast.Constant)
    parameters = plain_parameters(method)
    return not any(p.arg == value.id and p.annotation is not None for p in parameters)


@kept_with_node
def _assigned(cls: ClassInfo) -> dict[str, list[tuple[ast.FunctionDef, ast.expr]]]:
    """By attribute, the methods of a class body that assign to it on their object, with the expressions."""
    assigned = {}
    for _, method in methods_of(cls):
        own = method.args.args[0].arg
        for part in walk(method):
            for target, value in _pairs(part):
                if is_attribute_of(own, target):
                    assigned.setdefault(target.attr, []).append((method, value))
    return assigned


def _pairs(part: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if type(part) is ast.Assign:
        return [(target, part.value) for target in part.targets]
    return [(part.target, part.value)] if type(part) is ast.AnnAssign and part.value else []
