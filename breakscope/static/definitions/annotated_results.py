"""Completes what a call returned with what the function's return annotation promises."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Union,
    Value,
    holds_tensor,
    maybe_tensor,
    options,
)
from breakscope.rulekit.walking import Defined, plain_parameters, walk
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import is_tensor_class
from breakscope.static.definitions.names import lookup_name
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of, join_all
from breakscope.static.machine.machine import Machine


def completed(
    machine: Machine, function: Function, arguments: dict[str, Value], result: Value
) -> Value:
    """The result, with tensors in the place of what is not known of it, where the annotation
    promises them. A type variable stands for a tensor when an argument that it annotates is
    one."""
    info = function.info
    annotation = getattr(info.node, "returns", None)
    if annotation is None or (type(result) is Union and UNKNOWN not in result.options):
        return result
    frame = Frame(info.module, scope=function.scope)
    if info.module.has_type_variables():
        machine.objects.type_variables = bound_variables(machine, info.node, arguments, frame)
    try:
        return _filled(machine, result, value_of_annotation(machine, annotation, frame))
    finally:
        machine.objects.type_variables = {}


def bound_variables(
    machine: Machine, function: Defined, arguments: dict[str, Value], frame: Frame
) -> dict[int, Value]:
    """The type variables that annotate a tensor, or a container of tensors: id -> what they
    are."""
    given = [(p.annotation, arguments.get(p.arg)) for p in plain_parameters(function)]
    if function.args.vararg is not None:
        given += [
            (function.args.vararg.annotation, v)
            for name, v in arguments.items()
            if name.startswith("*") and name[1:].isdigit()
        ]
    bound: dict[int, Value] = {}
    for annotation, value in given:
        tensor = _tensor_in(value) if annotation is not None and value is not None else None
        for node in walk(annotation) if tensor is not None else ():
            if (
                isinstance(node, ast.Name)
                and type(variable := lookup_name(machine, node.id, frame)) is ExternalInstance
            ):
                bound[id(variable)] = tensor
    return bound


def _tensor_in(value: Value) -> Tensor | None:
    """Some tensor like the ones that the value is, or has for elements."""
    for option in options(value):
        if type(option) is Tensor:
            return Tensor(sure=option.sure, kind="numpy" if option.kind == "numpy" else "")
        if type(option) is Sequence:
            for part in option.inside:
                if (found := _tensor_in(part)) is not None:
                    return found
    return None


def _filled(machine: Machine, result: Value, promised: Value) -> Value:
    """The result with what is promised of it in the place of what is not known."""
    if not _can_stand(machine, promised):
        return result
    if result is UNKNOWN:
        return promised
    if type(result) is Union and UNKNOWN in result.options:
        return join_all(
            [*(option for option in result.options if option is not UNKNOWN), *options(promised)]
        )
    if type(result) is not Sequence or type(promised) is not Sequence:
        return result
    if result.items is None:
        if promised.items is not None and not all(map(maybe_tensor, promised.items)):
            return result  # which of them an item is, is not known
        element = _filled(machine, result.element, element_of(promised))
        return (
            result
            if element is result.element
            else Sequence(result.type, None, element, result.home)
        )
    if promised.items is None or len(promised.items) == len(result.items):
        parts = promised.items or [promised.element] * len(result.items)
        items = [_filled(machine, part, other) for part, other in zip(result.items, parts)]
        if any(new is not old for new, old in zip(items, result.items)):
            return Sequence(result.type, items, home=result.home)
    return result


def _can_stand(machine: Machine, promised: Value) -> bool:
    """True for what holds tensors; a `tuple[Tensor]` of one is mostly meant for a tuple of any
    length and kind."""
    singles = [
        o
        for o in options(promised)
        if type(o) is Sequence and o.items is not None and len(o.items) == 1
    ]
    is_tensor = type(promised) is Instance and is_tensor_class(machine, promised.cls.info)
    return is_tensor or (holds_tensor(promised) and not singles)
