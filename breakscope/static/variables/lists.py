"""Lists, tuples, sets, deques, ranges and torch.Size."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Sequence,
    ShapeInt,
    Union,
    Value,
    int_of,
)
from breakscope.static.definitions.homes import home_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of, join, join_all
from breakscope.static.machine.library import PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.base import Variable
from breakscope.static.variables.dicts import ADDING, is_hashable
from breakscope.static.variables.effects.constant_lists import note_changed, same_kind
from breakscope.static.variables.effects.emitting import (
    args_certainty,
    emit_call,
    emit_read,
    is_some_tensor,
    note_assert,
)
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.list_slices import is_slice, known_slice, store_slice
from breakscope.static.variables.effects.side_effects import (
    emit_mutate,
    is_full,
    note_change,
    note_driver_item,
    note_items_change,
    read_limit,
)
from breakscope.static.variables.library.builtin_iteration import keys_compared
from breakscope.static.variables.library.folding import counted
from breakscope.static.variables.library.followed.evaluated import evaluated_call, evaluated_method
from breakscope.static.variables.library.followed.followed_iteration import are_apart, is_counted
from breakscope.static.variables.numpy import traced_array

MODULES = ("ModuleList", "Sequential")
SEQUENCE_TYPES = {  # what isinstance of each accepts
    "list": ("list", "ModuleList"),
    "tuple": ("tuple", "size"),
    "set": ("set",),
    "typing.Sequence": ("list", "tuple", "size"),
    "typing.Iterable": ("list", "tuple", "size", "set", "generator"),
    "torch.Size": ("size",),
    "torch.nn.ModuleList": ("ModuleList",),
    "torch.nn.Sequential": ("Sequential",),
}
GROWING = frozenset({"append", "add", "appendleft", "insert"})
SHRINKING = frozenset({"pop", "popleft", "clear", "remove", "discard", "popitem"})


class ListVariable(Variable):
    """A list, tuple, set, deque, range or torch.Size."""

    binary_precedence = 4

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name in ADDING and len(args) == 2:
            key, child = args
            extend_sequence(machine, owner, child, frame, node, "append")
            owner.names += (str(key.value) if key.is_const else "",)
            return NONE
        found = evaluated_method(machine, owner, name, args, kwargs, node, frame)
        if found is not None:
            return found
        return call_sequence_method(machine, owner, name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        items = owner.items
        if name in owner.names and items and len(items) == len(owner.names):
            return items[owner.names.index(name)]
        if name in ("values", "indices") and items and len(items) == 2 and items[0].is_tensor:
            return items[0 if name == "values" else 1]
        if name == "maxlen" and owner.type == "deque":
            return read_limit(machine, owner, node, frame)
        return Method(owner, name)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        if frame.emits and index.is_const and (container.home or home_of(machine, container)):
            key = (id(container), ("item", index.value))
            machine.region.note_read(key, node, frame)
        if index.is_tensor:
            # what only looks like a mask is one of a tensor
            if index.dtype != "bool" or index.sure:
                emit_read(machine, index, "index", node, frame, getattr(node, "slice", node))
            return element_of(container)
        if is_some_tensor(index):
            emit_read(machine, index, "index", node, frame, getattr(node, "slice", node))
        items = container.items
        if is_slice(index):
            bounds = known_slice(index)
            if items is not None and bounds is not None:
                return same_kind(container, Sequence(container.type, items[bounds]))
            return same_kind(container, Sequence(container.type, None, element_of(container)))
        if (
            items is not None
            and index.is_const
            and isinstance(index.value, int)
            and -len(items) <= index.value < len(items)
        ):
            return items[index.value]
        return element_of(container)

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        note_driver_item(machine, target, container, index, value, frame, node)
        note_items_change(machine, target, container, index, value, frame, node, augmented)
        note_change(machine, container, node, frame)
        note_changed(machine, container, "__setitem__", target, frame)
        if index.is_tensor:
            emit_read(machine, index, "index", target, frame, target.slice)
        items = container.items
        if is_slice(index):
            store_slice(machine, container, index, value, target, frame)
        elif items is not None:
            at = index.value if index.is_const else None
            if isinstance(at, int) and -len(items) <= at < len(items):
                items[at] = value
            else:
                container.items = [join(v, value) for v in items]
        else:
            known = not container.element.is_unknown
            container.element = join(container.element, value) if known else value

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        if value.items == [] and not value.home:
            return None
        machine.region.note_contents_read(value, node, frame)
        return joined_modules(value)

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        return value.items

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        note_assert(machine, value, node, frame, construct, facts)
        if is_counted(machine, value, frame) and not value.is_uncounted:
            return bool(value.items)
        machine.region.note_contents_read(value, node, frame)
        return None

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        if is_some_tensor(traced_array(item)):
            # `not in`: Python needs the answer
            if container.type in ("list", "tuple") and container.items != []:
                emit_read(machine, traced_array(item), "contains", node, frame, node.left)
            return None
        items = container.items
        if item.is_const and is_counted(machine, container, frame):
            if is_hashable(item.value) and all(v.is_const for v in items):
                return item.value in [v.value for v in items]
        machine.region.note_contents_read(container, node, frame)
        return None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        if type(left) is not Sequence and op is ast.Mult and left.is_number:
            left, right = right, left  # `2 * [0]`
        if type(left) is not Sequence:
            return machine.behaviour(left).binary(machine, left, right, op, node, frame)
        if op is ast.Add and isinstance(right, Sequence):
            kind = (
                right.type if right.type == "size" else left.type
            )  # `(2,) + x.shape` is a torch.Size, too
            known = left.items is not None and right.items is not None
            if known and len(left.items) + len(right.items) <= limits.MOST_FOLDED_ITEMS:
                return Sequence(kind, [*left.items, *right.items])
            filled = [value for value in (left, right) if value.items != [] or value.home]
            return Sequence(kind, None, join_all([element_of(value) for value in filled]))
        if op is ast.Mult:
            if (
                left.items is not None
                and isinstance(right, Const)
                and isinstance(right.value, int)
                and right.value * len(left.items) <= limits.MOST_GROWN_ITEMS
            ):
                times = max(0, min(right.value, limits.MOST_GROWN_ITEMS))
                return Sequence(left.type, left.items * times)
            return Sequence(left.type, None, element_of(left))
        return Sequence(left.type, None, element_of(left)) if left.type == "set" else UNKNOWN

    def has_type(self, value, name) -> bool | None:
        if name in SEQUENCE_TYPES:
            return value.type in SEQUENCE_TYPES[name]
        return False if name in PYTHON_TYPES or name == "dict" else None

    def class_of(self, value) -> Value:
        return External(value.type) if value.type in ("list", "tuple", "set") else UNKNOWN

    def length(self, machine: Machine, value, node, frame) -> Value:
        if is_counted(machine, value, frame) and are_apart(value) and not value.is_uncounted:
            return Const(len(value.items))
        machine.region.note_contents_read(value, node, frame)
        return Py("int")

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        if depth == 0 or value.type in MODULES:
            return True
        inside = value.items if value.items is not None else (value.element,)
        return any(
            machine.behaviour(part).may_show_tensor(machine, part, depth - 1) for part in inside
        )

    def is_opaque(self, machine: Machine, value, within) -> bool:
        parts = value.items if value.items is not None else (value.element,)
        return any(machine.is_opaque(part, within) for part in parts)


def extend_sequence(
    machine: Machine, target: Sequence, value: Value, frame: Frame, node: ast.AST, method: str
) -> None:
    """Grow a list in place by the elements of `value` (or by `value` itself for append)."""
    emit_mutate(machine, node, frame, target, method, value)
    target.folded_at = None  # what `+=` gives is a list like any other
    if method == "extend":
        added = value.items if isinstance(value, Sequence) and value.items is not None else None
        element = machine.iterate(value, node, frame) or UNKNOWN if added is None else None
    else:
        added, element = [value], value
    known = (
        target.items is not None
        and added is not None
        and not frame.skips
        and len(target.items) < limits.MOST_GROWN_ITEMS
        and (not (target.home and frame.emits) or is_full(machine, target))
    )
    if known:
        target.items.extend(added)
        if target.type == "deque":
            machine.driver.shorten(target)
        return
    grown = join_all([*(target.items or []), *(added if added is not None else [element])])
    target.element = (
        grown
        if target.items is not None or target.element.is_unknown
        else join(target.element, grown)
    )
    target.items = None


def joined_modules(value: Sequence) -> Value:
    """The element of a sequence; every different module of a ModuleList stays an option of its
    own."""
    if value.items is None:
        return value.element
    if value.items and (
        value.type in ("ModuleList", "Sequential")
        or all(isinstance(v, Instance | Function | ExternalInstance) for v in value.items)
    ):
        different = list({id(v): v for v in value.items}.values())
        return (
            different[0]
            if len(different) == 1
            else Union(tuple(different[: limits.MOST_ITERATED_OBJECTS]))
        )
    return element_of(value)


def _popped(owner: Sequence, at: Value, frame: Frame) -> Value:
    """What is taken out at a place; of another one, any item may be gone."""
    items, is_fixed = owner.items, bool(owner.home and frame.emits)
    place = int_of(at)
    is_sure = not frame.skips and not frame.undecided and not is_fixed and owner.type != "set"
    if is_sure and items and place is not None and -len(items) <= place < len(items):
        return items.pop(place)
    value = element_of(owner)
    if items is not None and not is_fixed:
        owner.element, owner.items = value, None
    return value


def _remove(owner: Sequence, args: list[Value], frame: Frame) -> None:
    """Take out the first item that is the value; of one that is not known any may be gone."""
    items, wanted = owner.items, args[0] if args else UNKNOWN
    is_sure = not frame.skips and not frame.undecided
    known = wanted.is_const and all(item.is_const for item in items)
    at = next(
        (i for i, v in enumerate(items) if v is wanted or (known and v.value == wanted.value)), None
    )
    if at is not None and is_sure:
        del items[at]
    elif not known or not is_sure:
        owner.element, owner.items = element_of(owner), None


def call_sequence_method(
    machine: Machine, owner: Sequence, name: str, args, kwargs, node, frame
) -> Value:
    emit_call(
        machine, f"{owner.type}.{name}", owner, args, kwargs, node, frame, args_certainty(args)
    )
    note_changed(machine, owner, name, node, frame)
    if name in GROWING and args:
        extend_sequence(machine, owner, args[-1], frame, node, "append")
        if name == "insert" and owner.items and int_of(args[0]) is not None:
            owner.items.insert(args[0].value, owner.items.pop())
        elif name == "appendleft" and owner.items:
            owner.items.insert(0, owner.items.pop())
        return NONE
    if name in ("extend", "update", "extendleft") and args:
        before = len(owner.items or ())
        note_kept(machine, args[:1], node, frame, "extend")
        extend_sequence(machine, owner, args[0], frame, node, "extend")
        if name == "extendleft" and owner.items:
            owner.items = [*reversed(owner.items[before:]), *owner.items[:before]]
        return NONE
    if name in SHRINKING:
        emit_mutate(machine, node, frame, owner, name, UNKNOWN)
        if name in ("pop", "popleft"):
            at = Const(0) if name == "popleft" else args[0] if args else Const(-1)
            return _popped(owner, at, frame)
        if name == "clear" and not (owner.home and frame.emits):
            owner.items, owner.is_uncounted = [], False
        elif name in ("remove", "discard") and is_counted(machine, owner, frame):
            _remove(owner, args, frame)
        return NONE
    if name in ("reverse", "sort"):
        note_change(machine, owner, node, frame)
    if name == "reverse" and owner.items is not None and not (owner.home and frame.emits):
        owner.items = (
            owner.items[::-1] if not frame.skips else [join_all(owner.items)] * len(owner.items)
        )
        return NONE
    if name == "sort":
        keys_compared(machine, owner, kwargs, node, frame, "list.sort")
        found = evaluated_call(machine, "sorted", [owner], kwargs, node, frame)
        if isinstance(found, Sequence) and not frame.is_in_branch():
            owner.items = found.items
        return NONE
    if name == "numel":
        return ShapeInt(is_extent=True)
    if name in ("index", "count"):
        return counted(owner, name, args)
    if name in ("copy", "union", "intersection", "difference", "symmetric_difference"):
        return Sequence(
            owner.type,
            list(owner.items) if owner.items is not None and name == "copy" else None,
            element_of(owner),
        )
    if name in ("issubset", "issuperset", "isdisjoint"):
        return Py("bool")
    if name in ("send", "throw", "__next__"):
        return element_of(owner)
    if name == "__len__":
        return machine.behaviour(owner).length(machine, owner, node, frame)
    return UNKNOWN
