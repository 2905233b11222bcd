"""torch's pytrees: functions that go over the leaves of nested containers."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import UNKNOWN, Dict, Instance, Sequence, Union, Value
from breakscope.static.definitions.fields import field_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.machine import Machine

CONTAINERS = ("list", "tuple")


def call_tree_map(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_map(function, tree, *rests)`: a tree of the same form, with what the function gives."""
    function, *trees = args
    if not trees or function.is_unknown:
        return UNKNOWN
    return mapped(machine, function, trees, node, frame, limits.DEEPEST_KEY)


def mapped(
    machine: Machine, function: Value, trees: list[Value], node: ast.AST, frame: Frame, depth: int
) -> Value:
    first = trees[0]
    if depth and type(first) is Dict and len(trees) == 1:
        items = {
            key: mapped(machine, function, [value], node, frame, depth - 1)
            for key, value in first.items.items()
        }
        element = first.element
        if not element.is_unknown:
            element = mapped(machine, function, [element], node, frame, depth - 1)
        return Dict(items, element, open=first.open)
    if depth and type(first) is Sequence and first.type in CONTAINERS and len(trees) == 1:
        if first.items is None:
            made = mapped(machine, function, [first.element], node, frame, depth - 1)
            return Sequence(first.type, None, made)
        made = [mapped(machine, function, [v], node, frame, depth - 1) for v in first.items]
        return Sequence(first.type, made)
    if any(type(tree) in (Dict, Sequence, Union, Instance) for tree in trees):
        return UNKNOWN
    return machine.call(function, trees, {}, node, frame)


def call_tree_leaves(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_leaves(tree)`."""
    return leaves(machine, args[0] if args else UNKNOWN)


def call_tree_flatten(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_flatten(tree)`: the leaves, and what only `tree_unflatten` takes."""
    return Sequence("tuple", [leaves(machine, args[0] if args else UNKNOWN), UNKNOWN])


def leaves(machine: Machine, tree: Value) -> Sequence:
    """All leaves in a list; one value for all where their number is not known."""
    found = _parts(machine, tree, limits.DEEPEST_KEY)
    if found is None:
        return Sequence("list", None, _any_leaf(machine, tree, limits.DEEPEST_KEY))
    return Sequence("list", found)


def _parts(machine: Machine, tree: Value, depth: int) -> list[Value] | None:
    inside = _inside(machine, tree)
    if inside is None:
        return [tree] if type(tree) is not Union and not tree.is_unknown else None
    if not depth or (type(tree) is Dict and tree.open):
        return None
    parts = [_parts(machine, part, depth - 1) for part in inside]
    return None if None in parts else [leaf for part in parts for leaf in part]


def _any_leaf(machine: Machine, tree: Value, depth: int) -> Value:
    if type(tree) is Sequence and tree.items is None:
        return _any_leaf(machine, tree.element, depth)
    inside = _inside(machine, tree)
    if inside is None or not depth:
        return tree if inside is None else UNKNOWN
    known = join_all([_any_leaf(machine, part, depth - 1) for part in inside])
    return join(known, tree.element) if type(tree) is Dict and tree.open else known


def _inside(machine: Machine, tree: Value) -> list[Value] | None:
    """What a container holds; None for a leaf, and for a list of which only the element is known."""
    if type(tree) is Dict:
        return [*tree.items.values()]
    if type(tree) is Sequence and tree.type in CONTAINERS:
        return tree.items
    fields = field_names(machine, tree) if type(tree) is Instance else []
    return [tree.attributes.get(name, UNKNOWN) for name in fields] or None
