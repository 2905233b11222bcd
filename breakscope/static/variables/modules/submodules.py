"""The modules inside of a module, as `children()`, `named_modules()` and their like go over them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from breakscope import limits
from breakscope.rulekit.values import UNKNOWN, Const, Instance, Py, Sequence, Value
from breakscope.static.definitions.classes import is_module
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.lists import MODULES
from breakscope.static.variables.modules.containers import HELD, LAYER

WALKS = frozenset({"children", "named_children", "modules", "named_modules"})


def walk_over(machine: Machine, owner: Value, name: str, frame: Frame) -> Value:
    """What a method of `WALKS` goes over: each module; in a region any of them."""
    if type(owner) is Sequence and owner.items is None:
        named = Sequence("tuple", [Py("str"), owner.element])
        return Sequence("iterator", None, named if name.startswith("named") else owner.element)
    if name.endswith("children"):
        rows = list(children(machine, owner))
    else:
        rows = list(descendants(machine, owner))
    if frame.emits:
        inside = join_all([module for _, module in rows if module is not owner])
        if name == "named_children" and rows:
            return Sequence("iterator", None, Sequence("tuple", [Py("str"), inside]))
        return UNKNOWN if name.startswith("named") else Sequence("iterator", None, inside)
    if name.startswith("named"):
        return Sequence("iterator", [Sequence("tuple", [Const(n), m]) for n, m in rows])
    return Sequence("iterator", [module for _, module in rows])


def children(machine: Machine, owner: Value) -> Iterator[tuple[str, Value]]:
    """(name, module) of the modules that an object or a container of modules holds itself."""
    if type(owner) is Sequence:
        items = owner.items or []
        names = owner.names if len(owner.names) == len(items) else map(str, range(len(items)))
        yield from zip(names, items)
    elif type(owner) is Instance:
        for name, value in owner.attributes.items():
            if name == LAYER:
                continue
            if name == HELD and type(value) is Sequence:
                yield from children(machine, value)
            elif is_module(machine, value) or getattr(value, "type", "") in MODULES:
                yield name, value


def descendants(machine: Machine, owner: Value) -> Iterator[tuple[str, Value]]:
    """(dotted name, module) of a module and of all inside of it, each once, in the order of
    `named_modules()`."""
    seen: set[int] = set()
    waiting: list[tuple[str, Value, int]] = [("", owner, 0)]
    while waiting and len(seen) < limits.MOST_ITERATED_OBJECTS:
        name, module, depth = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield name, module
        if depth < limits.DEEPEST_MODULE_WALK:
            inside = [
                (f"{name}.{n}" if name else n, m, depth + 1) for n, m in children(machine, module)
            ]
            waiting += reversed(inside)


def apply(machine: Machine, owner: Value, args: list[Value], node: ast.AST, frame: Frame) -> None:
    """`module.apply(function)` around a region: what the function sets on each module is noted."""
    if args and machine.driver.sets and not frame.emits:
        for module in islice(inside_first(machine, owner), limits.MOST_ITERATED_OBJECTS):
            machine.call(args[0], [module], {}, node, frame)


def inside_first(machine: Machine, owner: Value, depth: int = 0) -> Iterator[Value]:
    """A module behind those inside of it, in the order in which torch applies a function to them."""
    if depth < limits.DEEPEST_MODULE_WALK:
        for _, module in [*children(machine, owner)]:
            yield from inside_first(machine, module, depth + 1)
    yield owner
