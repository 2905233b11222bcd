"""torch's pytrees: functions that go over the leaves of nested containers."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Dict,
    ExternalInstance,
    Instance,
    Sequence,
    Union,
    Value,
)
from breakscope.static.definitions.fields import field_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of, join, join_all
from breakscope.static.machine.machine import Machine

CONTAINERS = ("list", "tuple")
FORM = "torch.utils._pytree.TreeSpec"


def call_tree_map(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_map(function, tree, *rests)`: a tree of the same form, with what the function gives."""
    if len(args) < 2 or args[0].is_unknown:
        return UNKNOWN
    return mapped(machine, args[0], args[1:], node, frame, limits.DEEPEST_KEY)


def mapped(
    machine: Machine, function: Value, trees: list[Value], node: ast.AST, frame: Frame, depth: int
) -> Value:
    first = trees[0]
    if depth and type(first) is Dict and _is_alike(trees):
        items = {
            key: mapped(machine, function, [t.items[key] for t in trees], node, frame, depth - 1)
            for key in first.items
        }
        element = first.element
        if not element.is_unknown:
            element = mapped(machine, function, _elements(trees), node, frame, depth - 1)
        return Dict(items, element, open=first.open)
    if depth and type(first) is Sequence and first.type in CONTAINERS and _is_alike(trees):
        if first.items is None:
            made = mapped(machine, function, _elements(trees), node, frame, depth - 1)
            return Sequence(first.type, None, made)
        rows = [[*row] for row in zip(*[tree.items for tree in trees])]
        return Sequence(
            first.type, [mapped(machine, function, row, node, frame, depth - 1) for row in rows]
        )
    if any(type(tree) in (Dict, Sequence, Union, Instance) for tree in trees):
        return UNKNOWN
    return machine.call(function, trees, {}, node, frame)


def _is_alike(trees: list[Value]) -> bool:
    """True for containers of one form, whose items are known alike."""
    first = trees[0]
    if any(type(tree) is not type(first) for tree in trees):
        return False
    if type(first) is Dict:
        return all(tree.items.keys() == first.items.keys() for tree in trees)
    known = [None if tree.items is None else len(tree.items) for tree in trees]
    return all(length == known[0] for length in known)


def _elements(trees: list[Value]) -> list[Value]:
    return [tree.element for tree in trees]


def call_tree_leaves(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_leaves(tree)`."""
    return leaves(machine, args[0] if args else UNKNOWN)


def call_tree_flatten(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_flatten(tree)`: the leaves, and the form of the tree, which `tree_unflatten` takes."""
    tree = args[0] if args else UNKNOWN
    return Sequence("tuple", [leaves(machine, tree), ExternalInstance(FORM, (tree,))])


def call_tree_unflatten(machine: Machine, args, kwargs, node, frame) -> Value:
    """`tree_unflatten(leaves, form)`: the tree, with any of the leaves in each place."""
    given, form = (*args, UNKNOWN, UNKNOWN)[:2]
    if type(form) is not ExternalInstance or form.name != FORM or type(given) is not Sequence:
        return UNKNOWN
    return refilled(machine, form.args[0], element_of(given), limits.DEEPEST_KEY)


def refilled(machine: Machine, tree: Value, leaf: Value, depth: int) -> Value:
    if not depth:
        return UNKNOWN
    if type(tree) is Dict:
        items = {key: refilled(machine, v, leaf, depth - 1) for key, v in tree.items.items()}
        return Dict(items, leaf if tree.open else UNKNOWN, open=tree.open)
    if type(tree) is Sequence and tree.type in CONTAINERS:
        if tree.items is None:
            return Sequence(tree.type, None, refilled(machine, tree.element, leaf, depth - 1))
        return Sequence(tree.type, [refilled(machine, v, leaf, depth - 1) for v in tree.items])
    return UNKNOWN if type(tree) in (Instance, Union) or tree.is_unknown else leaf


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
