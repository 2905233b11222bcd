"""Dicts, and what behaves like one."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Method,
    Py,
    Sequence,
    Value,
)
from breakscope.static.definitions.homes import home_of, note_nested
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.library import CONTAINER_TYPES, PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import note_assert
from breakscope.static.variables.effects.settling import has_item
from breakscope.static.variables.effects.side_effects import (
    emit_mutate,
    note_change,
    note_driver_item,
    note_items_change,
    note_mutation,
    note_outside,
)
from breakscope.static.variables.effects.unmade_iterators import LOOP
from breakscope.static.variables.modules.changes import note_module_change
from breakscope.static.variables.objects.default_dicts import missing_item, of_all_keys

ADDING = frozenset({"add_module", "register_module"})
KINDS = (dict, OrderedDict, Counter, defaultdict)


class DictVariable(Variable):
    """A dict, or what behaves like one."""

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name in ADDING and len(args) == 2:
            put_key(owner, *args)
            return NONE
        note_module_change(machine, owner, name, args, kwargs, node, frame)  # of a ModuleDict
        return call_dict_method(machine, owner, name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name in owner.items and not hasattr(dict, name):
            return owner.items[name]  # of a ModuleDict
        is_method = any(hasattr(kind, name) for kind in KINDS)
        if owner.open and not is_method and name not in machine.library.module_methods:
            return UNKNOWN  # of an argument that is called a dict, and has attributes
        return Method(owner, name)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        index = as_key(index)
        if frame.emits and index.is_const and (container.home or home_of(machine, container)):
            key = (id(container), ("item", index.value))
            machine.region.note_read(key, node, frame)
        elif index.is_const:
            note_attributes_read(machine, container, [index.value], node, frame)
        made = missing_item(machine, container, index, node, frame)
        return dict_item(container, index) if made is None else made

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        index = as_key(index)
        note_driver_item(machine, target, container, index, value, frame, node)
        counts = note_items_change(machine, target, container, index, value, frame, node, augmented)
        new = not (counts or (index.is_const and _is_there(machine, container, index, frame)))
        if new and frame.emits and id(container) not in machine.driver.factories:
            new = frame.function is None or not has_item(frame.function.node, node, target)
        if new and machine.driver.inside and container.home and not frame.emits:
            machine.driver.filled.append((container, index.value if index.is_const else None))
        is_kept = container.home or home_of(machine, container)
        if is_kept and new and frame.emits and not frame.within:
            emit_mutate(machine, node, frame, container, "__setitem__", value, index)
        note_change(machine, container, node, frame)
        is_filled = bool(container.items) or container.open
        if machine.driver.sets and container.home and not (index.is_const or is_filled):
            note_mutation(machine, container, "__setitem__", frame, node)
        if not (container.home and frame.emits):
            if not frame.emits and isinstance(value, Sequence | Dict) and _is_of_object(target):
                value.home = value.home or machine.text(target, frame.module)
            put_key(container, index, value)
            return
        if index.is_const and is_hashable(
            index.value
        ):  # what was there does not live there any more
            machine.objects.inner_homes.pop(id(container.items.get(index.value)), None)
        known = not container.element.is_unknown
        container.element = join(container.element, value) if known else value
        container.open = True

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        _note_gone_over(machine, value, node, frame)
        keys = [*map(of_key, value.items)]
        if keys and not value.open:
            return join_all(keys)
        return UNKNOWN if value.open else None

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        note_assert(machine, value, node, frame, construct, facts)
        is_known = is_complete(machine, value, frame) and not value.is_uncounted
        return bool(value.items) if is_known else None

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        item = as_key(item)
        if item.is_const and is_complete(machine, container, frame):
            if is_hashable(item.value):
                is_there = item.value in container.items
                return None if is_there and container.is_uncounted else is_there
        machine.region.note_contents_read(container, node, frame)
        return None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        if op is not ast.BitOr or not isinstance(right, Dict):
            return super().binary(machine, left, right, op, node, frame)
        element = join(left.element, right.element)
        return Dict({**left.items, **right.items}, element, left.open or right.open)

    def has_type(self, value, name) -> bool | None:
        if name in ("dict", "typing.Mapping", "typing.MutableMapping"):
            return True
        return False if name in PYTHON_TYPES or name in CONTAINER_TYPES else None

    def class_of(self, value) -> Value:
        return External("dict")

    def length(self, machine: Machine, value, node, frame) -> Value:
        if is_complete(machine, value, frame) and not value.is_uncounted:
            return Const(len(value.items))
        machine.region.note_contents_read(value, node, frame)
        return Py("int")

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        inside = (*value.items.values(), *([value.element] if value.open else []))
        return depth == 0 or any(
            machine.behaviour(part).may_show_tensor(machine, part, depth - 1) for part in inside
        )

    def is_opaque(self, machine: Machine, value, within) -> bool:
        parts = (*value.items.values(), value.element)
        return any(machine.is_opaque(part, within) for part in parts)


def as_key(value: Value) -> Value:
    """A tuple of what is known, as the constant that finds its key."""
    if type(value) is not Sequence or value.type != "tuple" or value.items is None:
        return value
    parts = [*map(as_key, value.items)]
    return Const(tuple(p.value for p in parts)) if all(p.is_const for p in parts) else value


def of_key(key: object) -> Value:
    """The value that a key stands for."""
    return Sequence("tuple", [*map(of_key, key)]) if type(key) is tuple else Const(key)


def put_key(target: Dict, key: Value, value: Value) -> None:
    """Set a key of an abstract dict in place."""
    key = as_key(key)
    if key.is_const and is_hashable(key.value):
        target.items[key.value] = value
    else:
        target.element = (
            value if target.element.is_unknown and not target.open else join(target.element, value)
        )
        target.open = True


def delete_key(machine: Machine, owner: Dict, key: Value, frame: Frame) -> None:
    """`del owner[key]`: one that is known is gone, unless it depends on an open test."""
    machine.touch(owner)
    key = as_key(key)
    _note_taken(machine, owner, key, frame)
    if key.is_const and _known_key(owner, key) and not frame.emits and not frame.is_in_branch():
        del owner.items[key.value]
    else:
        owner.open = True


def note_attributes_read(machine: Machine, container: Dict, names, node, frame: Frame) -> None:
    """Note of `vars(owner)` that the region reads attributes of the object."""
    owner = machine.objects.attribute_dicts.get(id(container.items)) if frame.emits else None
    for name in names if owner is not None else ():
        machine.region.note_read((id(owner), name), node, frame)


def dict_item(container: Dict, index: Value) -> Value:
    if index.is_const:
        try:
            known = container.items.get(index.value)
        except TypeError:
            return UNKNOWN
        if known is not None:
            return known
        return container.element
    values = [*container.items.values(), *([container.element] if container.open else [])]
    tensors = [value.is_tensor for value in values]
    if any(tensors) and not all(tensors):
        # which of them the key names is not known: `**kwargs` holds flags beside tensors
        return UNKNOWN
    return join_all(values)


def _view(owner: Dict, name: str) -> Sequence:
    """`values()`, `keys()` or `items()`."""
    if owner.open or len(owner.items) > limits.MOST_KNOWN_ITEMS:
        key = Py("str") if set(map(type, owner.items)) == {str} else UNKNOWN
        values = [*owner.items.values(), *([owner.element] if owner.open else [])]
        element = join_all(values) if name != "keys" else UNKNOWN
        parts = {"values": element, "keys": key}
        return Sequence("iterator", None, parts.get(name) or Sequence("tuple", [key, element]))
    if name == "values":
        return Sequence("iterator", [*owner.items.values()])
    if name == "keys":
        return Sequence("iterator", [*map(of_key, owner.items)])
    return Sequence("iterator", [Sequence("tuple", [of_key(k), v]) for k, v in owner.items.items()])


def _update(machine: Machine, owner: Dict, given: Value | None, kwargs, node, frame) -> None:
    new = {
        **(given.items if isinstance(given, Dict) else {}),
        **{k: v for k, v in kwargs.items() if k != "**"},
    }
    if new and machine.driver.sets and owner.home and not frame.emits:
        for key, value in new.items():
            before = owner.items.get(key, NONE)
            note_outside(machine, owner, ("item", key), value, before, frame, node)
    elif any(k not in owner.items for k in new) or not new:
        emit_mutate(machine, node, frame, owner, "update", join_all(new.values()))
    elif machine.driver.sets and owner.home:
        note_mutation(machine, owner, "update", frame, node)
    if not (owner.home and frame.emits):
        owner.items.update(new)
        is_other = given is not None and not isinstance(given, Dict)
        owner.open = owner.open or not new or is_other or "**" in kwargs


def call_dict_method(machine: Machine, owner: Dict, name: str, args, kwargs, node, frame) -> Value:
    if name in ("values", "items", "keys"):
        _note_gone_over(machine, owner, node, frame)
        view = _view(owner, name)
        view.unmade = LOOP
        if name != "keys" and frame.emits:
            frame.activation.note_made(view)
            note_attributes_read(machine, owner, [*owner.items], node, frame)
        view.is_once = name != "keys" and not frame.emits
        return view
    if name in ("get", "pop", "setdefault") and args:
        args = [as_key(args[0]), *args[1:]]
        found = dict_item(owner, args[0])
        missing = args[1] if len(args) > 1 else NONE
        known = args[0].is_const and args[0].value in owner.items
        if name == "pop":
            emit_mutate(machine, node, frame, owner, "pop", UNKNOWN, args[0])
            if len(args) == 1:
                _note_taken(machine, owner, args[0], frame)
            if known and not (owner.home and frame.emits):
                del owner.items[args[0].value]
        if name == "setdefault" and not known:
            if not args[0].is_const or (owner.home and frame.emits):
                missing = of_all_keys(missing)
            emit_mutate(machine, node, frame, owner, "setdefault", missing, args[0])
            put_key(owner, args[0], missing)
            if owner.home:
                note_nested(machine, owner, owner.home)
        if known:
            return found
        if not owner.open and args[0].is_const:
            return missing
        if found.is_tensor and isinstance(getattr(missing, "value", None), bool | str):
            return Py(type(missing.value).__name__, "argument")  # a flag among tensors
        return join(found, missing)
    if name == "update":
        _update(machine, owner, args[0] if args else None, kwargs, node, frame)
        return NONE
    if name == "copy":
        return Dict(dict(owner.items), owner.element, owner.open)
    if name == "popitem" and owner.items and not owner.open:
        return _pop_item(machine, owner, args[0] if args else kwargs.get("last"), node, frame)
    if name == "clear":
        emit_mutate(machine, node, frame, owner, "clear", UNKNOWN)
        if not frame.emits and not frame.is_in_branch():
            machine.touch(owner)
            owner.items.clear()
        return NONE
    if name == "__setitem__" and len(args) == 2:
        machine.setitem(owner, *args, node, node, frame)
        return NONE
    if name == "most_common":
        return _most_common(owner, args)
    if name == "__contains__" and args:
        found = machine.contains(owner, args[0], node, node, frame)
        return Py("bool") if found is None else Const(found)
    return UNKNOWN


def _pop_item(machine: Machine, owner: Dict, last: Value | None, node, frame) -> Value:
    """`popitem()`: the pair that was put in last, or with `last=False` of an OrderedDict first."""
    emit_mutate(machine, node, frame, owner, "popitem", UNKNOWN)
    if last is not None and not last.is_const:
        return Sequence("tuple", [UNKNOWN, join_all([*owner.items.values()])])
    keys = [*owner.items]
    key = keys[-1 if last is None or last.value else 0]
    value = owner.items[key]
    if not frame.emits:
        delete_key(machine, owner, Const(key), frame)
    return Sequence("tuple", [of_key(key), value])


def _most_common(owner: Dict, args: list[Value]) -> Sequence:
    """The pairs of a Counter, the largest first."""
    counts = [value.value if isinstance(value, Const) else None for value in owner.items.values()]
    if owner.open or not all(isinstance(count, int) for count in counts):
        return Sequence("list", None, Sequence("tuple", [UNKNOWN, Py("int")]))
    pairs = sorted(owner.items.items(), key=lambda pair: -pair[1].value)
    most = args[0].value if args and isinstance(args[0], Const) else None
    pairs = pairs[: most if isinstance(most, int) else len(pairs)]
    return Sequence("list", [Sequence("tuple", [of_key(key), count]) for key, count in pairs])


def is_complete(machine: Machine, value: Dict, frame: Frame) -> bool:
    """True where all keys are known: of what outlives the call only while the code that changes it is
    followed step by step."""
    is_followed = machine.driver.sets and not frame.emits
    return not value.open and (not value.home or is_followed)


def is_hashable(value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_there(machine: Machine, container: Dict, index: Const, frame: Frame) -> bool:
    """True for a key that the dict has before the region runs."""
    if not is_hashable(index.value):
        return False
    if (id(frame.activation), id(container), index.value) in machine.region.taken:
        return True
    if index.value not in container.items:
        return False
    filled = machine.driver.filled if frame.emits else ()
    return not any(known is container and key == index.value for known, key in filled)


def _note_gone_over(machine: Machine, owner: Dict, node: ast.AST, frame: Frame) -> None:
    machine.region.note_contents_read(owner, node, frame)


def _note_taken(machine: Machine, owner: Dict, key: Value, frame: Frame) -> None:
    if key.is_const and is_hashable(key.value):
        machine.region.taken.add((id(frame.activation), id(owner), key.value))


def _known_key(container: Dict, index: Value) -> bool:
    try:
        return index.value in container.items
    except TypeError:
        return False


def _is_of_object(target: ast.AST) -> bool:
    """True for `owner.__dict__[name]`, an attribute that is set past `__setattr__`."""
    return getattr(getattr(target, "value", None), "attr", "") == "__dict__"
