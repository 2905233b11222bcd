"""Attributes that the `__setitem__` of an own OrderedDict sets, and that Dynamo leaves out."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Dict, Function, Instance, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import external_bases, find_member
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

ORDERED = "collections.OrderedDict"
SETTERS = ("setattr", "__setattr__")


def note_left_out(machine: Machine, owner: Instance, held: Value) -> None:
    """Keep which attributes an OrderedDict made in a region lacks there. Python's constructor puts
    what it is given through the `__setitem__` of the class; Dynamo's does not call it."""
    if type(held) is not Dict or ORDERED not in external_bases(machine, owner.cls.info):
        return
    setter = find_member(machine, owner.cls.info, "__setitem__")
    if type(setter) is Function and sets_attribute(setter.info.node):
        machine.objects.left_out[id(owner)] = {k for k in held.items if isinstance(k, str)}


def sets_attribute(setter: ast.FunctionDef) -> bool:
    """True for a `__setitem__` that sets the attribute of the item's name, whatever the value."""
    names = [parameter.arg for parameter in setter.args.args]
    if len(names) != 3:
        return False
    for statement in setter.body:
        if type(statement) is ast.If and names[2] not in _names_in(statement.test):
            statements = statement.body
        else:
            statements = [statement]
        if any(_stores(part, names[0], names[1]) for part in statements):
            return True
    return False


def _names_in(node: ast.expr) -> list[str]:
    return [part.id for part in walk(node) if type(part) is ast.Name]


def _stores(statement: ast.stmt, owner: str, key: str) -> bool:
    """True for `setattr(self, key, ...)`, `super().__setattr__(key, ...)` and
    `self.__dict__[key] = ...`."""
    if type(statement) is ast.Expr and type(statement.value) is ast.Call:
        called, args = statement.value.func, statement.value.args
        name = called.attr if type(called) is ast.Attribute else getattr(called, "id", "")
        return name in SETTERS and any(getattr(a, "id", "") == key for a in args[:-1])
    if type(statement) is ast.Assign and type(statement.targets[0]) is ast.Subscript:
        target = statement.targets[0]
        is_dict = ast.unparse(target.value) == f"{owner}.__dict__"
        return is_dict and getattr(target.slice, "id", "") == key
    return False


def settle_left_out(machine: Machine, owner: Instance, index: Value) -> None:
    """An item that is stored sets its attribute."""
    names = machine.objects.left_out.get(id(owner))
    if names is None:
        return
    owner.version += 1  # one that is made later lacks them again
    if index.is_const:
        names.discard(index.value)
    else:
        names.clear()


def read_left_out(
    machine: Machine, owner: Instance, name: str, node: ast.AST, frame: Frame
) -> None:
    """Emit the read of an attribute that the object lacks while Dynamo traces."""
    if (
        name in machine.objects.left_out[id(owner)]
        and type(node) is ast.Attribute
        and not frame.caught
        and find_member(machine, owner.cls.info, "__getattr__") is None
    ):
        emit_call(
            machine, "attribute of an own OrderedDict", owner, (Const(name),), {}, node, frame
        )
