"""Methods of objects of which nothing is known, by their names."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.modules.hooks import HANDLE, HOOKS
from breakscope.static.variables.tensor import call_tensor_method


def is_unseen(callee: Value) -> bool:
    """True for a method of an object of which nothing is known."""
    return callee is UNKNOWN or (type(callee) is Py and callee.type == "unknown")


def call_by_name(
    machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.Call,
    frame: Frame,
) -> Value:
    """A method of an object of which nothing is known, but that only one kind of object has."""
    if kwargs and takes_dim(machine, name, kwargs):
        return call_tensor_method(machine, Tensor(sure=False), name, args, kwargs, node, frame)
    if name in HOOKS:
        given = (Const(name), *args)
        emit_call(machine, "module.register_hook", None, given, kwargs, node, frame, "likely")
        return ExternalInstance(HANDLE)
    if name in ("parameters", "named_parameters") and not args and not kwargs:  # a module's
        parameter = Tensor("float", sure=False, kind="parameter")
        named = Sequence("tuple", [Py("str"), parameter])
        return Sequence("iterator", None, parameter if name == "parameters" else named)
    if name == "remove" and not args and not kwargs:  # a list's or a set's takes what to remove
        emit_call(machine, f"{HANDLE}.remove", None, (), {}, node, frame, "likely")
    return UNKNOWN


def takes_dim(machine, name: str, kwargs: dict[str, Value]) -> bool:
    """True for a method of tensors that takes a `dim`: what it is called on is one."""
    return ("dim" in kwargs or "keepdim" in kwargs) and name in machine.library.tensor_names
