"""Slices and items of lists that are stored, or deleted."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import UNKNOWN, Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of, join_all
from breakscope.static.machine.machine import Machine


def is_slice(index: Value) -> bool:
    return isinstance(index, ExternalInstance) and index.name == "slice"


def is_whole_slice(index: Value) -> bool:
    """True for `[:]`."""
    bounds = index.args if is_slice(index) else (UNKNOWN,)
    return all(isinstance(bound, Const) and bound.value is None for bound in bounds)


def known_slice(index: ExternalInstance) -> slice | None:
    """Python's own slice, where its bounds are known."""
    bounds = [bound.value if bound.is_const else "?" for bound in index.args]
    is_known = all(bound is None or isinstance(bound, int) for bound in bounds)
    return slice(*bounds) if is_known and bounds[2] != 0 else None


def store_slice(
    machine: Machine, owner: Sequence, index: Value, value: Value, node: ast.AST, frame: Frame
) -> None:
    """`rows[a:b] = values`."""
    given = value.items if isinstance(value, Sequence) else None
    is_sure = not frame.skips and not frame.undecided and not (owner.home and frame.emits)
    if given is not None and is_whole_slice(index) and is_sure:
        owner.items = [*given]
    else:
        element = machine.iterate(value, node, frame)
        owner.element = join_all([element_of(owner), *([] if element is None else [element])])
        owner.items = None


def delete_item(machine: Machine, owner: Sequence, index: Value, frame: Frame) -> None:
    """`del rows[index]`, or `del rows[a:b]`."""
    items = owner.items
    if items is None or (owner.home and frame.emits):
        return
    machine.touch(owner)
    at = index.value if index.is_const else None
    is_known = type(at) is int and -len(items) <= at < len(items)
    if is_slice(index):
        at = known_slice(index)
        is_known = at is not None
    if is_known and not frame.skips and not frame.undecided:
        del items[at]
    else:
        owner.element, owner.items = element_of(owner), None
