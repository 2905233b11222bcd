"""What other methods than `__init__` put on an object before it is called: caches that are set up,
parts that are handed over later."""

from __future__ import annotations

import ast
from typing import NamedTuple

from breakscope.rulekit.values import CONFIG, NONE, Const, ExternalInstance, Instance, Py, Value
from breakscope.rulekit.walking import kept_with_node, names_in, plain_parameters, walk
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import class_facts, is_module_class, members_of, mro_of
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo

ENTERED = ("__init__", "__new__", "__call__", "forward", "__post_init__")
PART = ExternalInstance("torch.nn.Module")


def prepare(machine: Machine, made: Instance) -> None:
    """Let what a new object of a module class has as None be also what a method that its `forward`
    does not call gives it, a bool be what its caller decides; and let the object have the modules that
    such a method adds."""
    if not is_module_class(machine, made.cls.info):
        return
    for name, (cls, method, value) in _given_later(machine, made.cls.info).items():
        known = made.attributes.get(name)
        if known is None and value is None:
            made.attributes[name] = PART
        elif known is not None and known.is_none and value is not None:
            later = value_in_method(machine, cls, method, value)
            made.attributes[name] = CONFIG if later.is_unknown else join(NONE, later)
        elif _is_bool(known) and value is not None and not isinstance(value, ast.Constant):
            made.attributes[name] = Py("bool", "config", known.value)


def _is_bool(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, bool)


def _given_later(
    machine: Machine, info: ClassInfo
) -> dict[str, tuple[ClassInfo, ast.FunctionDef, ast.expr | None]]:
    """Attribute -> the class, the method and the expression that sets it; no expression where the
    method adds a module."""
    facts = class_facts(machine, info)
    if facts.given_later is None:
        facts.given_later = {}
        methods: dict[str, tuple[ClassInfo, ast.FunctionDef]] = {}
        for cls in mro_of(machine, info):
            for name, method in methods_of(cls):
                methods.setdefault(name, (cls, method))
        entered = _entered(methods)
        for name, (cls, method) in methods.items():
            for attribute, value in () if name in entered else _traits(method).sets:
                facts.given_later.setdefault(attribute, (cls, method, value))
    return facts.given_later


def _entered(methods: dict[str, tuple[ClassInfo, ast.FunctionDef]]) -> set[str]:
    """The methods that making and calling the object may run: these are followed as they are."""
    found: set[str] = set()
    left = [name for name in ENTERED if name in methods]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _traits(methods[name][1]).attributes & methods.keys()
    return found


@kept_with_node
def methods_of(info: ClassInfo) -> list[tuple[str, ast.FunctionDef]]:
    """The methods of a class body that take its object."""
    return [
        (name, member)
        for name, member in members_of(info).items()
        if isinstance(member, ast.FunctionDef) and member.args.args
    ]


class Traits(NamedTuple):
    """Of a method: the names of all attributes in it, and what it sets of its object, as
    `_given_later` has it."""

    attributes: frozenset[str]
    sets: tuple[tuple[str, ast.expr | None], ...]


@kept_with_node
def _traits(method: ast.FunctionDef) -> Traits:
    parts = walk(method)
    names = frozenset([part.attr for part in parts if type(part) is ast.Attribute])
    return Traits(names, tuple(_sets(method.args.args[0].arg, parts)))


def _sets(own: str, parts: list[ast.AST]) -> list[tuple[str, ast.expr | None]]:
    found: list[tuple[str, ast.expr | None]] = []
    for part in parts:
        kind = type(part)
        if kind is ast.Assign or (kind is ast.AnnAssign and part.value is not None):
            if isinstance(part.value, ast.Constant) and part.value.value is None:
                continue
            targets = part.targets if kind is ast.Assign else [part.target]
            found += [(t.attr, part.value) for t in targets if is_attribute_of(own, t)]
        elif (
            kind is ast.Call
            and is_attribute_of(own, part.func)
            and part.func.attr in ("add_module", "register_module")
            and part.args
            and isinstance(part.args[0], ast.Constant)
        ):
            found.append((part.args[0].value, None))
    return found


def is_attribute_of(own: str, node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == own
    )


@kept_with_node
def _stored_names(method: ast.FunctionDef) -> list[str]:
    return sorted(names_in(method, ast.Store))


def value_in_method(
    machine: Machine, cls: ClassInfo, method: ast.FunctionDef, value: ast.expr
) -> Value:
    """The value of an expression of a method that is not run: its parameters are what their
    annotations say, and its local names are unknown."""
    frame = Frame(cls.module, scope=cls.scope)
    frame.names = dict.fromkeys(_stored_names(method), CONFIG)
    for parameter in plain_parameters(method):
        annotated = value_of_annotation(machine, parameter.annotation, frame)
        frame.names[parameter.arg] = CONFIG if annotated.is_unknown else annotated
    try:
        found = machine.eval(value, frame)
    except (Raised, OutOfBudget):
        return CONFIG
    return Py(type(found.value).__name__, "config") if isinstance(found, Const) else found
