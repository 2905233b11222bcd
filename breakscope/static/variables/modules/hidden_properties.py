"""Properties whose names a module has among its parameters or submodules: `nn.Module.__setattr__` runs no setter for these."""

from __future__ import annotations

import ast
import contextlib

from breakscope.rulekit.values import Const, Function, Instance, Sequence, Value
from breakscope.static.definitions.classes import bound_to, find_member, is_module
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call


def is_part(machine: Machine, value: Value) -> bool:
    """True for what nn.Module keeps among its modules."""
    if type(value) is Sequence:
        return value.type in ("ModuleList", "Sequential")
    return is_module(machine, value)


def is_kept_apart(machine: Machine, owner: Instance, value: Value) -> bool:
    """True for what nn.Module keeps, of a module, elsewhere than among its attributes; a class with a
    `__setattr__` of its own may call the setter."""
    if not is_module(machine, owner) or find_member(machine, owner.cls.info, "__setattr__"):
        return False
    return getattr(value, "kind", "") == "parameter" or is_part(machine, value)


def run_hidden_property(
    machine: Machine, owner: Instance, value: Value, name: str, node: ast.AST, frame: Frame
) -> None:
    """The property is called first; where that fails, the module looks among what it keeps."""
    getter = hidden_property(machine, owner, value, name)
    if getter is not None and not frame.caught:
        with contextlib.suppress(Raised):
            machine.call_implicitly(bound_to(getter, owner), [], node, frame)


def hidden_property(machine: Machine, owner: Instance, value: Value, name: str) -> Function | None:
    """The property of this name, where the module keeps this value apart under it."""
    member = find_member(machine, owner.cls.info, name)
    if type(member) is not Function or "property" not in member.info.marks:
        return None
    return member if is_kept_apart(machine, owner, value) else None


def note_missing(machine: Machine, owner: Instance, name: str, node: ast.AST, frame: Frame) -> None:
    """Emit the read of an attribute that nothing sets in a property that a part hides."""
    if not frame.emits or frame.bound is not owner or frame.function is None:
        return
    for kept, value in owner.attributes.items():
        getter = hidden_property(machine, owner, value, kept)
        if getter is not None and getter.info is frame.function and not frame.caught:
            found = (Const(kept), Const(name))
            emit_call(machine, "property.__get__ of part", owner, found, {}, node, frame)
            return
