"""What a `defaultdict` makes for a key that it does not have."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from breakscope.rulekit.values import UNKNOWN, Dict, Instance, Sequence, Value
from breakscope.static.definitions.homes import note_nested
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.state import Made


def call_default_dict(machine: Machine, args, kwargs, node, frame) -> Value:
    is_given = bool(args) and not args[0].is_none
    if is_given and machine.driver.sets and not frame.emits:
        found = Dict({})
        machine.driver.factories[id(found)] = found, args[0]
    else:
        made = machine.call(args[0], [], {}, node, frame) if is_given else UNKNOWN
        found = Dict({}, of_all_keys(made), open=True)
    machine.objects.default_dicts[id(found)] = found
    return found


def missing_item(
    machine: Machine, container: Dict, index: Value, node: ast.AST, frame: Frame
) -> Value | None:
    """What is made for a key outside of regions; None where the key is there."""
    if not index.is_const or not isinstance(index.value, Hashable):
        return None
    key = index.value
    if frame.emits:
        note_made_by_reading(machine, container, key, frame)
    if key in container.items or frame.emits:
        return None
    if (kept := machine.driver.factories.get(id(container))) is None:
        return None
    machine.touch(container)
    container.items[key] = machine.call(kept[1], [], {}, node, frame)
    if container.home:
        note_nested(machine, container, container.home)
        if machine.driver.inside:
            machine.driver.filled.append((container, key))
    return container.items[key]


def note_made_by_reading(machine: Machine, container: Dict, key: Hashable, frame: Frame) -> None:
    """The first call that reads a key makes the object for it, which has no name in Python yet: it outlives the
    call, and of a dict that is not followed it stands for those of all keys."""
    made = container.element
    if key in container.items:
        made = container.items[key]
        filled = machine.driver.filled
        if not any(known is container and key == its_key for known, its_key in filled):
            return
    if type(made) is not Instance or id(container) not in machine.objects.default_dicts:
        return
    before = machine.objects.made_by_reading.get(id(made))
    if before is None or before.activation != id(frame.activation):
        machine.objects.made_count += 1
        machine.objects.made_by_reading[id(made)] = Made(
            id(frame.activation), len(frame.activation.steps), machine.objects.made_count
        )


def of_all_keys(value: Value) -> Value:
    """What stands for the values of keys that are not known, or of another call: lists that grow on."""
    is_list = type(value) is Sequence and value.items is not None
    return Sequence(value.type, None, join_all(value.items)) if is_list else value
