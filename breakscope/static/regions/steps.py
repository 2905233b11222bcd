"""Methods `step` that take tensors: what a noise scheduler or a solver does once for each turn of its
loop is compiled like a forward, though no module holds it."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import NONE, Class, Function, Instance, Tensor
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import (
    bound_to,
    find_member,
    is_module_class,
    members_of,
)
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.arguments import configured_instance, parameter_values

NAME = "step"


def tensor_step(machine: Machine, cls: Class) -> Function | None:
    """The class's own `step`, bound to a prepared object, where two of its parameters are annotated
    as tensors: what it is given and what it goes on from. An optimizer's takes a closure, an
    environment's an action."""
    if is_module_class(machine, cls.info):
        return None
    if not isinstance(members_of(cls.info).get(NAME), ast.FunctionDef):
        return None
    step = find_member(machine, cls.info, NAME)
    if not isinstance(step, Function) or isinstance(step.info.node, ast.Lambda):
        return None
    if any(
        isinstance(part, ast.Attribute) and part.attr == "backward" for part in walk(step.info.node)
    ):
        return None  # a training step, which is a region where the program compiles it
    frame = _outside(step)
    annotated = (p.annotation for p in step.info.node.args.args if p.annotation is not None)
    values = (value_of_annotation(machine, annotation, frame) for annotation in annotated)
    if sum(isinstance(value, Tensor) for value in values) < 2:
        return None
    made = configured_instance(machine, cls)
    _prepare(machine, made)
    bound = bound_to(step, made)
    return bound if isinstance(bound, Function) else None


def _prepare(machine: Machine, made: Instance) -> None:
    """Call the public methods that set what the constructor left None, as a user does before the
    first step."""
    for name, node in members_of(made.cls.info).items():
        if not isinstance(node, ast.FunctionDef) or name == NAME or name.startswith("_"):
            continue
        if not any(made.attributes.get(attribute) == NONE for attribute in _set_by(node)):
            continue
        method = bound_to(find_member(machine, made.cls.info, name), made)
        if not isinstance(method, Function) or "property" in method.info.marks:
            continue
        try:
            args, kwargs = parameter_values(machine, method, False)
            machine.inline(method, args, kwargs, node, _outside(method))
        except (Raised, OutOfBudget):
            continue  # then the object stays as far as it came


def _set_by(node: ast.FunctionDef) -> set[str]:
    """The attributes of `self` that a method sets."""
    return {
        part.attr
        for part in walk(node)
        if isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
    }


def _outside(function: Function) -> Frame:
    return Frame(function.info.module, None, function.scope, None, False, 0, "")
