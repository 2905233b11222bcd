"""What a loop of the code that makes a region's calls goes over, item by item."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
    int_of,
)
from breakscope.static.definitions.classes import external_bases, members_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.followed.followed_iteration import asked_for
from breakscope.static.variables.library.followed.loaders import batches
from breakscope.static.variables.tensors.sizes import DrawnSize


def driven_items(
    machine: Machine, iterable: Value, node: ast.expr, frame: Frame
) -> Iterable[Value] | None:
    """What a loop goes over, item by item; None where that is not known. An object of the program's own
    makes each item when its turn comes."""
    if isinstance(iterable, Sequence) and iterable.items is not None:
        return _taken(machine, iterable)
    if type(iterable) is Dict and not iterable.open:
        return [Const(key) for key in iterable.items]
    if type(iterable) is Const and isinstance(iterable.value, str | bytes):
        return [Const(letter) for letter in iterable.value]
    if type(iterable) is Tensor:
        return _rows(machine, iterable, node, frame)
    if type(iterable) is Class:
        return _members(machine, iterable, node, frame)
    if type(iterable) is Instance:
        return _items_of_object(machine, iterable, node, frame)
    return batches(machine, iterable, node, frame)


def all_items(machine: Machine, iterable: Value, most: int) -> list[Value] | None:
    """What a loop goes over where that is known to its end, and is short."""
    most = min(most, limits.MOST_KNOWN_TURNS)
    if isinstance(iterable, Sequence) and iterable.items is not None:
        short = len(iterable.items) <= most
        return _taken(machine, iterable) if short else None
    if type(iterable) is Dict and not iterable.open:
        short = len(iterable.items) <= most
        return [Const(key) for key in iterable.items] if short else None
    return None


def drawn_items(machine: Machine, iterable: Value, element: Value, most: int) -> list[Value] | None:
    """Two rows of a tensor that has as many as the values in another one make it, in what is compiled: as a rule
    these are several, and what is done for one is done for each."""
    is_drawn = type(iterable) is Tensor and iterable.shape and type(iterable.shape[0]) is DrawnSize
    if not is_drawn or not machine.driver.inside or most < 2 or type(element) is not Tensor:
        return None
    return [element, replace(element)]


def _members(machine: Machine, cls: Class, node: ast.expr, frame: Frame) -> list[Value] | None:
    """The members of an enum."""
    if not any(machine.library.is_enum(name) for name in external_bases(machine, cls.info)):
        return None
    names = [
        name for name, part in members_of(cls.info).items() if not isinstance(part, ast.FunctionDef)
    ]
    members = [machine.getattr(cls, name, node, frame) for name in names if name[0] != "_"]
    return [member for member in members if type(member) is Py]


def _rows(machine: Machine, tensor: Tensor, node: ast.expr, frame: Frame) -> list[Value] | None:
    """The rows of a tensor of which the number is known."""
    length = tensor.shape[0] if tensor.shape else None
    row = machine.iterate(tensor, node, frame)
    if type(row) is Py and machine.driver.sets:
        row = replace(row, source="random")  # a number of an array: each is another one
    if type(length) is not int or type(row) not in (Tensor, Py):
        return None
    count = min(length, limits.MOST_DRIVEN_TURNS)
    return [replace(row) for _ in range(count)]


def _taken(machine: Machine, iterable: Sequence) -> list[Value]:
    """The items; an iterator has none of them any more."""
    items = iterable.items
    if iterable.type in ("iterator", "generator") and machine.driver.sets:
        iterable.items = []
    return items


def _items_of_object(
    machine: Machine, iterable: Instance, node: ast.expr, frame: Frame
) -> Iterable[Value] | None:
    method = machine.getattr(iterable, "__iter__", node, frame)
    if not isinstance(method, Function):
        return _items_by_number(machine, iterable, node, frame)
    iterator = machine.call(method, [], {}, node, frame)
    if not isinstance(iterator, Instance):
        return driven_items(machine, iterator, node, frame)
    following = machine.getattr(iterator, "__next__", node, frame)
    return asked_for(machine, following, node, frame) if isinstance(following, Function) else None


def _items_by_number(
    machine: Machine, iterable: Instance, node: ast.expr, frame: Frame
) -> list[Value] | None:
    """The items of an object with `__len__` and `__getitem__`."""
    item = machine.getattr(iterable, "__getitem__", node, frame)
    length = machine.getattr(iterable, "__len__", node, frame)
    if not isinstance(item, Function) or not isinstance(length, Function):
        return None
    count = int_of(machine.call(length, [], {}, node, frame))
    if count is None:
        return None
    numbers = range(min(count, limits.MOST_DRIVEN_TURNS))
    return [machine.call(item, [Const(number)], {}, node, frame) for number in numbers]


def guessed_items(
    machine: Machine, iterable: ast.expr, element: Value, frame: Frame
) -> list[Value]:
    """The first items of what is gone over where their number is not known: of a `range` and of
    `enumerate` the numbers are."""
    few = range(limits.FEW_DRIVEN_TURNS)
    called = iterable.func.id if _is_call_of_name(iterable) else ""
    if called == "range" and not element.is_const:
        return [Const(number) for number in few]
    if called in ("tqdm", "trange", "enumerate") and iterable.args:
        inner = iterable.args[0]
        known = batches(machine, machine.eval(inner, frame), inner, frame)
        if called != "enumerate":
            return known or guessed_items(machine, inner, element, frame)
        pair = element.items if isinstance(element, Sequence) and element.items else (element,)
        items = known or [pair[-1] for _ in few]
        return [Sequence("tuple", [Const(n), item]) for n, item in enumerate(items)]
    return [element for _ in few]


def _is_call_of_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
