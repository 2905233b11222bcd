"""Builtin functions that make numbers and text: `int`, `abs`, `round`, `divmod`, `str`, `repr`, ..."""

from __future__ import annotations

import ast
from math import isfinite

from breakscope.rulekit.events import Format
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    Py,
    Sequence,
    ShapeInt,
    Value,
    holds_modules,
    holds_tensor,
)
from breakscope.static.definitions.classes import is_module
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call, sureness
from breakscope.static.variables.effects.size_reads import emit_numbers_read
from breakscope.static.variables.library.folding import fold_binary, fold_cast
from breakscope.static.variables.numpy import array_of_number
from breakscope.static.variables.tensors.arithmetic import tensor_operator


def builtin_abs(machine: Machine, args, kwargs, node, frame) -> Value:
    value = args[0] if args else UNKNOWN
    return (
        Const(abs(value.value))
        if isinstance(value, Const) and isinstance(value.value, int | float)
        else value
    )


def builtin_round(machine: Machine, args, kwargs, node, frame) -> Value:
    value = args[0] if args else UNKNOWN
    if value.is_tensor:
        emit_call(machine, "round", None, args, kwargs, node, frame)
        return value
    if len(args) > 1:
        return Py("number") if isinstance(value, Const | Py) else value
    if isinstance(value, Const) and isinstance(value.value, float):
        return fold_cast(round(value.value), "int") if isfinite(value.value) else Py("int")
    return value if not isinstance(value, Py) else Py("int", value.source)


def builtin_pow(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) == 2 and all(isinstance(value, Const) for value in args):
        return fold_binary(args[0].value, args[1].value, ast.Pow)
    return (
        tensor_operator(*args[:2], ast.Pow)
        if len(args) > 1 and any(a.is_tensor for a in args[:2])
        else Py("number")
    )


def builtin_divmod(machine: Machine, args, kwargs, node, frame) -> Value:
    emit_numbers_read(machine, "divmod", args, node, frame)
    part = (
        ShapeInt()
        if any(a.is_shape for a in args)
        else args[0]
        if args and args[0].is_tensor
        else Py("int")
    )
    return Sequence("tuple", [part, part])


def builtin_str(machine: Machine, args, kwargs, node, frame) -> Value:
    value = array_of_number(args[0]) if args else Const("")
    if holds_tensor(value):
        machine.emit(Format, node, frame, sureness(value), value=value, construct="str")
        return Py("str")  # the graph ended, so it has letters
    if value.is_const:
        return Const(str(value.value))
    if _has_objects(machine, value):
        machine.emit(Format, node, frame, "likely", value=value, construct="str")
        return Py("str")
    emit_numbers_read(machine, "text", args, node, frame)
    return (
        Py("str", "shape")
        if value.is_shape or (isinstance(value, Sequence) and value.type == "size")
        else Py("str")
    )


def _has_objects(machine: Machine, value: Value) -> bool:
    """True for a list, tuple, set or dict with an object in it; torch's containers of modules have texts of
    their own."""
    if type(value) is Dict:
        is_of_modules = any(is_module(machine, part) for part in value.items.values())
        return not value.is_ordered and not is_of_modules and machine.is_opaque(value)
    return type(value) is Sequence and not holds_modules(value) and machine.is_opaque(value)


def builtin_repr(machine: Machine, args, kwargs, node, frame) -> Value:
    value = array_of_number(args[0]) if args else Const("")
    if holds_tensor(value):
        machine.emit(Format, node, frame, sureness(value), value=value, construct="repr")
    emit_numbers_read(machine, "text", args, node, frame)
    return Py("str")
