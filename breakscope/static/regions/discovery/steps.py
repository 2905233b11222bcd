"""Methods that take tensors, of classes that are no modules: what a noise scheduler or a solver does
once for each turn of its loop, its `step`, is compiled like a forward, though no module holds it, and
so are the other methods of what a library hands out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from breakscope.rulekit.values import NONE, Class, Function, Instance, Tensor
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import bound_to, find_member, is_module_class, members_of
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.configured import configured_instance
from breakscope.static.regions.discovery.around import is_no_tensor, is_training_step

NAME = "step"


def tensor_step(machine: Machine, cls: Class) -> Function | None:
    """The class's own `step`, bound to a prepared object, where it works on tensors."""
    return next(tensor_methods(machine, cls, [NAME]), None)


def tensor_methods(machine: Machine, cls: Class, names: Iterable[str]) -> Iterator[Function]:
    """The class's own methods of these names, bound to a prepared object, of which two parameters are
    annotated as tensors: what it is given and what it goes on from. An optimizer's takes a closure,
    an environment's an action."""
    if is_module_class(machine, cls.info):
        return
    made = None
    for name in names:
        method = _method_on_tensors(machine, cls, name)
        if method is None:
            continue
        if made is None:
            made = configured_instance(machine, cls)
            _prepare(machine, made)
        bound = bound_to(method, made)
        if isinstance(bound, Function):
            yield bound


def _method_on_tensors(machine: Machine, cls: Class, name: str) -> Function | None:
    if not isinstance(members_of(cls.info).get(name), ast.FunctionDef):
        return None
    method = find_member(machine, cls.info, name)
    if not isinstance(method, Function) or isinstance(method.info.node, ast.Lambda):
        return None
    if is_training_step(method.info.node):
        return None
    frame = _outside(method)
    annotated = (p.annotation for p in method.info.node.args.args if p.annotation is not None)
    values = (value_of_annotation(machine, annotation, frame) for annotation in annotated)
    tensors = [value for value in values if type(value) is Tensor and not is_no_tensor(value)]
    return method if len(tensors) >= 2 else None


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
    return Frame(function.info.module, scope=function.scope)
