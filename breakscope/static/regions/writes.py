"""What the code around a region sets between its calls, and the region reads."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Outside
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.frames import Activation, Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.states import inside
from breakscope.static.regions.uses.numbers import number_use
from breakscope.static.regions.variation import are_alike, describe, differing, variation


def emit_writes(
    machine: Machine,
    frame: Frame,
    holder: Value | None,
    writes: list,
    marks: list[int],
    call: tuple[Activation, ast.AST] | None = None,
) -> None:
    """Attributes that the driver sets and the region reads: those that are not the same at each call;
    `marks` tells how much was set before each. Of a layer that nn.Sequential holds, `call` shows them."""
    values: dict[tuple[int, str], list] = {}
    for number, write in enumerate(writes):
        values.setdefault((id(write[0]), write[1]), []).append((number, write))
    for key, numbered in values.items():
        found = _at_calls(numbered, marks)
        layer = getattr(numbered[-1][1][0], "name", "").startswith("torch.nn.")
        read = (
            _read_of_layer(machine, holder, numbered[-1][1][0], call)
            if layer
            else _read_of(machine, key, holder, numbered[-1][1][0])
        )
        if read is None and call is not None and numbered[-1][1][0] is holder:
            read = call  # an item of the nn.Sequential that is compiled
        is_set_first = key in machine.region.overwritten  # by the region, before it reads it
        if read is None or read[0] is None or len(found) < 2 or is_set_first:
            continue
        activation, node = read
        container, name, _, _, path, at = found[1][1]
        is_attribute = isinstance(node, ast.Attribute) and isinstance(name, str) and name != ""
        initial, value = found[0][0], found[1][0]
        what = variation([initial, value]) if type(value) is type(initial) is Tensor else ""
        if isinstance(value, Tensor) and not initial.is_none and not what:
            continue
        if not _reads_what_differs(machine, [at_call for at_call, _ in found]):
            continue
        activation.seen = set(activation.seen)  # its call is over
        inside = Frame(
            activation.module, frame.function, None, activation, True, 0, activation.function
        )
        machine.emit(
            Outside,
            node,
            inside,
            owner=machine.text(node if layer else node.value, activation.module)
            if is_attribute
            else "",
            name=name
            if isinstance(name, str) and name
            else _item_name(machine, container, node, activation, name),
            value=value,
            initial=initial,
            path=path,
            line=getattr(at, "lineno", 0),
            what=what,
            use="number" if layer else number_use(node, container, activation.module),
        )


def _at_calls(numbered: list, marks: list[int]) -> list[tuple[Value, tuple]]:
    """The different values at the calls, in their order, each with the write that it goes back to."""
    found: dict[object, tuple[Value, tuple]] = {}
    for mark in marks:
        before = [write for number, write in numbered if number < mark]
        value = before[-1][2] if before else numbered[0][1][3]
        found.setdefault(_told_apart(value), (value, before[-1] if before else numbered[0][1]))
    return list(found.values())


def _read_of(machine: Machine, key: tuple, holder: Value | None, container: object) -> tuple | None:
    """Where the region reads an attribute, or an item, be it with the whole container, or a container
    under the name that its object has for it."""
    reads = machine.region.reads
    if key in reads or (isinstance(key[1], str) and key[1]):
        return reads.get(key)
    if (id(container), "") in reads:
        return reads[id(container), ""]
    if type(key[1]) is tuple and any(_is_item(read, key[0]) for read in reads):
        return None  # it reads other items
    if isinstance(container, Sequence) and key[1] == "":
        items = (at for read, at in reads.items() if _is_item(read, key[0]))
        if (at := next(items, None)) is not None:
            return at  # the length of a list is guarded wherever an item is read
    held = holder.attributes if isinstance(holder, Instance) else {}
    name = next((name for name, value in held.items() if value.original is container), None)
    return reads.get((id(holder), name))


def _is_item(read: tuple, container: int) -> bool:
    owner, name = read
    return owner == container and name[:1] == ("item",)


def _reads_what_differs(machine: Machine, values: list[Value]) -> bool:
    """False for other dicts, or objects of one class, of which the region reads only what is the same in the first
    two."""
    before, after, *_ = values
    if are_alike([before, after]):
        return any(
            variation(parts) and any((id(v), path[1:]) in machine.region.reads for v in values)
            for path, parts in differing([before, after], 0)
        )
    if _are_of_objects(before, after):
        rows = zip(*(value.items or () for value in values if type(value) is Sequence))
        return any(_reads_what_differs(machine, [*row]) for row in rows)
    if type(before) is not Dict or type(after) is not Dict:
        return True
    read = [
        name[1]
        for owner, name in machine.region.reads
        if owner == id(before) and type(name) is tuple and name[0] == "item"
    ]
    return not read or any(
        describe(before.items.get(key, UNKNOWN)) != describe(after.items.get(key, UNKNOWN))
        for key in read
    )


def _are_of_objects(before: Value, after: Value) -> bool:
    """True for lists of as many objects each."""
    rows = [value.items or () for value in (before, after) if type(value) is Sequence]
    return len({*map(len, rows)}) == 1 < len(rows) and all(
        type(item) is Instance for row in rows for item in row
    )


def _read_of_layer(
    machine: Machine, holder: Value | None, layer: Value, call: tuple | None
) -> tuple | None:
    """Where the region reads a layer of torch's that its module holds, be it in other modules; what the layer
    reads of itself is not seen."""
    waiting, seen = [holder], set()
    while waiting:
        owner = waiting.pop()
        if not isinstance(owner, Instance) or id(owner) in seen:
            continue
        seen.add(id(owner))
        for name, value in owner.attributes.items():
            if _holds(value.original, layer, limits.DEEPEST_MODULE_WALK):
                return machine.region.reads.get((id(owner), name))
            waiting.append(value.original)
    is_held = holder is not None and _holds(holder, layer, limits.DEEPEST_MODULE_WALK)
    return call if is_held else None


def _holds(value: Value, layer: Value, depth: int) -> bool:
    """True for the layer, and for a container with it."""
    if value is layer:
        return True
    is_container = isinstance(value, Sequence | Dict) and depth > 0
    return is_container and any(_holds(part.original, layer, depth - 1) for part in inside(value))


def _item_name(
    machine: Machine, container: object, node: ast.AST, activation: Activation, name: object
) -> str:
    """What to call an item, or a whole container, that the region reads."""
    if isinstance(node, ast.Subscript):
        return machine.text(node, activation.module)
    home = getattr(container, "home", "").removeprefix("global ")
    is_item = getattr(container, "type", "") in ("Sequential", "ModuleList") and type(name) is tuple
    return f"{home}[{name[1]!r}]" if home and is_item else home


def _told_apart(value: Value, depth: int = limits.DEEPEST_KEY) -> object:
    """What guards see of a value that a driver sets: of a layer also its sizes. A dict may hold itself."""
    if type(value) is Scalar or (type(value) is Py and value.is_drawn):
        return id(value)  # each one is another number, which nothing says
    if isinstance(value, ExternalInstance):
        is_partial = value.name == "functools.partial"
        given = [*enumerate(value.args), *value.kwargs]
        consts = ((at, v.value) for at, v in given if isinstance(v, Const))
        return describe(value) if is_partial else (value.name, *consts)
    if type(value) is Dict and not value.open and depth:
        return tuple((str(key), _told_apart(item, depth - 1)) for key, item in value.items.items())
    if type(value) is Function:
        return id(value.info), describe(value)
    if type(value) is Instance and depth:
        parts = value.attributes.items()
        return value.describe(), *((name, _told_apart(part, depth - 1)) for name, part in parts)
    if type(value) is Sequence and value.items is not None and depth:
        if all(v.is_const or type(v) is Instance for v in value.items):
            return describe(value), *(_told_apart(item, depth - 1) for item in value.items)
    return describe(value)
