"""Containers and iterators in the code around a region, which is followed step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.definitions.fields import field_names
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.followed.evaluated import is_followed
from breakscope.static.variables.library.followed.loaders import first_batches


def is_counted(machine: Machine, value: Sequence, frame: Frame) -> bool:
    """True where the number of items is known: of what outlives the call only while the code that changes
    it is followed step by step, or where nothing can."""
    is_followed = machine.driver.sets or machine.driver.inside
    return value.items is not None and (not value.home or (is_followed and not frame.emits))


def are_apart(value: Sequence) -> bool:
    """False for a set of which some items may be equal: `{x.device, y.device}` has one or two."""
    items = value.items or ()
    return value.type != "set" or len(items) < 2 or all(type(item) is Const for item in items)


def listed(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> list[Value] | None:
    """What going over a value gives, item by item, where that is exactly known; beside sequences only in the
    code around a region."""
    if isinstance(value, Sequence):
        if value.type == "ModuleList":
            # its home is that of the module, which mostly stays as it was made
            return value.items if machine.driver.calls is not None and not frame.emits else None
        return value.items if is_counted(machine, value, frame) else None
    driver = machine.driver
    if frame.emits or not (driver.sets or (driver.inside and type(value) is Tensor)):
        return None
    if type(value) is Dict and not value.open:
        return [Const(key) for key in value.items]
    if type(value) is Const and isinstance(value.value, str | bytes):
        return [Const(letter) for letter in value.value]
    if isinstance(value, Instance):
        fields = field_names(machine, value)
        return [value.attributes.get(name, UNKNOWN) for name in fields] or None
    if type(value) is Tensor and value.shape and type(value.shape[0]) is int:
        row = machine.iterate(value, node, frame)
        is_short = value.shape[0] <= limits.MOST_KNOWN_TURNS and type(row) is Tensor
        return [replace(row) for _ in range(value.shape[0])] if is_short else None
    found = first_batches(machine, value, node, frame)
    return found if found is None or len(found) <= limits.MOST_DRIVEN_TURNS else None


def turns_of(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> list[Value] | None:
    """The same beside others, as `zip` goes over them: of an iterator of the program's own what it gives in as
    many turns as are followed."""
    is_followed = machine.driver.sets and not frame.emits
    if is_followed and type(value) is Instance and not field_names(machine, value):
        method = machine.getattr(value, "__iter__", node, frame)
        found = machine.call(method, [], {}, node, frame) if isinstance(method, Function) else value
        if type(found) is not Instance:
            return listed(machine, found, node, frame)
        following = machine.getattr(found, "__next__", node, frame)
        is_known = isinstance(following, Function)
        return [*asked_for(machine, following, node, frame)] if is_known else None
    return listed(machine, value, node, frame)


def asked_for(
    machine: Machine, following: Function, node: ast.AST, frame: Frame
) -> Iterator[Value]:
    """What a `__next__` gives until it ends, or for as many turns as are followed."""
    for _ in range(limits.MOST_DRIVEN_TURNS):
        try:
            item = machine.call(following, [], {}, node, frame)
        except Raised as problem:
            if problem.is_stop:
                return
            raise
        yield item


def sorted_items(machine: Machine, source: Value, kwargs, node, frame) -> Value | None:
    """The items in their order outside of regions, as far as what they are compared by is known."""
    if not isinstance(source, Sequence) or not is_counted(machine, source, frame):
        return None
    items, key = list(source.items), kwargs.get("key")
    if key is not None:
        keys = [machine.call(key, [item], {}, node, frame) for item in items]
    else:
        keys = items
    kinds = {type(getattr(value, "value", None)) for value in keys}
    if all(isinstance(value, Const) for value in keys) and kinds in ({int}, {float}, {str}):
        order = sorted(range(len(items)), key=lambda at: keys[at].value)
        items = [items[at] for at in order]
        if kwargs.get("reverse") == Const(True):
            items.reverse()
    return Sequence("list", items)


def taken_item(machine: Machine, args, node, frame) -> Value | None:
    """The next item of an iterator that outside of regions is followed step by step; None where that is not
    known."""
    iterator = args[0]
    if isinstance(iterator, Instance):
        method = machine.getattr(iterator, "__next__", node, frame)
        return machine.call(method, [], {}, node, frame) if isinstance(method, Function) else None
    is_iterator = isinstance(iterator, Sequence) and iterator.type in ("iterator", "generator")
    if not is_iterator or iterator.items is None:
        return None
    if iterator.items:
        return iterator.items.pop(0)
    if len(args) > 1:
        return args[1]
    if frame.caught:
        raise Raised(External("StopIteration"))
    return UNKNOWN


def call_counter(machine: Machine, args, kwargs, node, frame) -> Value:
    """`collections.Counter(items)`: how often each is there, outside of regions."""
    if frame.emits:
        return ExternalInstance("collections.Counter", tuple(args), tuple(kwargs.items()))
    items = listed(machine, args[0], node, frame) if args else []
    is_known = items is not None and all(isinstance(item, Const) for item in items)
    if kwargs or not is_known or not is_followed(machine, frame) or len(args) > 1:
        return Dict({}, Py("int"), open=True)
    found = Dict({item.value: Const(0) for item in items})
    for item in items:
        found.items[item.value] = Const(found.items[item.value].value + 1)
    machine.driver.factories[id(found)] = found, External("int")
    return found
