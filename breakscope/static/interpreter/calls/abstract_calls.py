"""Calls of methods whose class is not known: those that a class only announces, and those of objects that
nothing names."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import weaker
from breakscope.rulekit.values import UNKNOWN, Class, Function, Instance, Value, maybe_tensor
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.definitions.annotations import value_of_class
from breakscope.static.definitions.classes import bound_to, find_member, members_of, mro_of
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.abstract_methods import is_announced, leaves_to_subclasses
from breakscope.static.project.modules import ClassInfo

# methods that Python's own objects have
COMMON = frozenset(name for kind in (dict, list, set, tuple) for name in dir(kind))
OF_TEXTS = frozenset(dir(str)) | frozenset(dir(bytes))


def is_a_subclass_s(machine: Machine, function: Function, frame: Frame) -> bool:
    """True when what runs is not this method, but what a subclass has in its place: by an
    annotation, or because the method as it stands here would end the program."""
    owner = function.bound
    if not isinstance(function.info.node, ast.FunctionDef):
        return False
    if type(owner) is Instance:
        is_open = machine.objects.is_annotated(owner) or not frame.caught
    else:
        is_open = function.info.owner is not None and not frame.caught
    return is_open and (is_announced(function.info) or leaves_to_subclasses(function.info))


def is_left_to_subclasses(machine: Machine, function: Function) -> bool:
    """True for a method of an object known by its annotation only, which ends in
    NotImplementedError."""
    owner = function.bound
    return (
        type(owner) is Instance
        and machine.objects.is_annotated(owner)
        and leaves_to_subclasses(function.info)
    )


def call_of_subclasses(
    machine: Machine,
    method: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Call what stands for an announced method in the classes that derive from its own, of its file and of
    those that the caller's file names. Which of them the object has is not known."""
    if not frame.emits:
        return UNKNOWN
    name = method.info.name
    classes = [c for c in subclasses_beside(machine, method, frame) if name in members_of(c.info)]
    found = _called_on(machine, classes, name, args, kwargs, node, frame)
    return join_all(found) if found else UNKNOWN


def _called_on(
    machine: Machine,
    classes: list[Class],
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> list[Value]:
    """What a method gives on an object of each class, where it does more than announce."""
    found, certainty = [], frame.certainty
    frame.certainty = weaker("likely", certainty)
    for cls in classes:
        method = find_member(machine, cls.info, name)
        if type(method) is Function and not is_announced(method.info):
            try:
                bound = bound_to(method, value_of_class(machine, cls))
                found.append(machine.call(bound, args, kwargs, node, frame))
            except Raised:
                continue
    frame.certainty = certainty
    return found


def call_of_own_classes(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """Call a method of an object that nothing names, where few classes of the file have one of this
    name and nothing else has; None where there is no such class."""
    if name.startswith("_") or name in COMMON or name in machine.library.module_methods:
        return None
    if name in OF_TEXTS and not any(map(maybe_tensor, args)):
        return None
    # a method that calls one of its name hands on to what its object holds, not to itself
    running = None if frame.function is None else frame.function.node
    holder = _holder(node, frame)
    classes = [
        value
        for value in module_names(machine, frame.module).values()
        if type(value) is Class
        and value.info.module is frame.module
        and value.info is not holder
        and members_of(value.info).get(name) is not running
        and isinstance(member := members_of(value.info).get(name), ast.FunctionDef)
        and not member.decorator_list
        and takes(member, args, kwargs)
    ]
    if not 0 < len(classes) <= limits.MOST_GUESSED_CLASSES:
        return None
    return join_all([*_called_on(machine, classes, name, args, kwargs, node, frame), UNKNOWN])


def _holder(node: ast.AST, frame: Frame) -> ClassInfo | None:
    """The class of a method that calls what its object holds, `self.factors.solve(x)`: seldom another one of it."""
    held = node.func.value if type(node) is ast.Call and type(node.func) is ast.Attribute else None
    if type(held) is not ast.Attribute or type(held.value) is not ast.Name:
        return None
    owner = frame.names.get(held.value.id)
    is_self = frame.function is not None and type(owner) is Instance
    return frame.function.owner if is_self else None


def takes(method: ast.FunctionDef, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True when a call with these arguments fits a method."""
    spec = method.args
    parameters = [p.arg for p in positional_parameters(method)][1:]
    needed = parameters[: len(parameters) - len(spec.defaults)]
    names = {*parameters, *(p.arg for p in spec.kwonlyargs)}
    if "*" in kwargs or "**" in kwargs:
        return True
    return (
        (len(args) <= len(parameters) or spec.vararg is not None)
        and (names.issuperset(kwargs) or spec.kwarg is not None)
        and all(name in kwargs for name in needed[len(args) :])
    )


def subclasses_beside(machine: Machine, method: Function, frame: Frame) -> list[Class]:
    """The classes at the top of a method's file, and those that the caller's file names, that derive from
    that of the object it is bound to, or from its own where it is bound to none."""
    bound = method.bound
    owner = bound.cls.info if type(bound) is Instance else method.info.owner
    named = [*module_names(machine, method.info.module).values()]
    if frame.module is not method.info.module:
        named += [
            resolve_import(machine, value)
            for name, value in module_names(machine, frame.module).items()
            if name[:1].isupper()
        ]
    return [
        value
        for value in dict.fromkeys(named)
        if type(value) is Class and owner in mro_of(machine, value.info)[1:]
    ]
