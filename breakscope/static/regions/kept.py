"""Tensors that a region keeps on its objects from call to call: what differs between what its calls
find there makes Dynamo recompile."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec.structs import replace

from breakscope.rulekit.events import Store, Varies
from breakscope.rulekit.values import UNKNOWN, Const, Tensor, Value
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation, Frame
from breakscope.static.machine.kept import counterparts, kept_in
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.variation import KINDS, are_alike, shown_values, variation


def emit_kept(
    machine: Machine, calls: list[DrivenCall], written: list[tuple], entered: Iterable[Value] = ()
) -> None:
    """Emit where the region reads a tensor of an object that an earlier call has set in another way; what the
    code around the region has set is said elsewhere. `entered`: what the region was entered with, where the calls
    may have been given other objects."""
    places = counterparts(entered, calls[0].args)
    known = {(id(write[0]), write[1]) for write in written}
    known |= {
        key
        for activation, index, key in machine.region.pending
        if _has_other_dimensions(activation.steps[index].event)  # BRK707 says so
    }
    rows = [kept_in(call.held) for call in calls]
    for key in rows[0]:
        values = [row[key] for row in rows if key in row]
        key = (places.get(key[0], key[0]), key[1])
        read = machine.region.reads.get(key)
        if (
            read is None
            or key in known
            or key in machine.region.overwritten
            or key in machine.region.emptied
        ):
            continue
        if len({value.value for value in values if type(value) is Const}) > 1:
            _note_counted(machine, key)
        what = variation(values) if any(type(value) is Tensor for value in values) else ""
        if not what or type(values[-1]) is not Tensor:
            continue
        shown = () if calls[0].has_examples else shown_values(values)
        _emit_read(machine, read, f"kept {what}" if what == "requires_grad" else what, shown)
    _emit_lengths(machine, calls, known)
    _emit_items(machine, calls, known)
    _emit_replaced(machine, calls, known)


def _note_counted(machine: Machine, key: tuple[int, str]) -> None:
    """The region leaves another number in each call, however it comes to it, as in `self.n += 1`."""
    for activation, index, stored in machine.region.pending:
        event = activation.steps[index].event
        if stored != key or type(event) is not Store or event.scope != "attribute":
            continue
        was_int = type(getattr(event.initial, "value", None)) is int
        if event.is_read and not (was_int and event.value.is_shape):  # BRK707 says so
            activation.steps[index].event = replace(event, reads_itself=True)


def _emit_lengths(machine: Machine, calls: list[DrivenCall], known: set) -> None:
    """Emit where the region reads a list of an object that it fills in its first calls, and keeps at a length then."""
    grown = {
        container
        for activation, index, container in machine.region.grown
        if not activation.steps[index].event.bounded  # BRK703 says so
    }
    rows = [
        {(id(owner), name): n for owner, _, lengths, _ in call.held for name, n in lengths.items()}
        for call in calls
    ]
    lists = {
        (id(owner), name): id(owner.attributes.get(name))
        for owner, _, lengths, _ in calls[0].held
        for name in lengths
    }
    for key, container in lists.items():
        lengths = [row[key] for row in rows if key in row]
        read = machine.region.reads.get(key)
        is_open = read is not None and key not in known | machine.region.overwritten.keys()
        if is_open and len(set(lengths)) > 1 and container not in grown:
            _emit_read(machine, read, "kept length", tuple(map(str, dict.fromkeys(lengths))))


def _emit_items(machine: Machine, calls: list[DrivenCall], known: set) -> None:
    """Emit where the region reads an item of a list or dict that an earlier call has put there in place of another."""
    rows = [{key: v for held in call.held for key, v in held.items.items()} for call in calls]
    known = known | machine.region.stored_first | {key for *_, key in machine.region.pending}
    for key in rows[0]:
        values = [row[key] for row in rows if key in row]
        read = machine.region.reads.get(key)
        if read is None or key in known or len(values) < len(rows):
            continue
        if what := variation(values):
            _emit_read(machine, read, what, shown_values(values))


def _emit_replaced(machine: Machine, calls: list[DrivenCall], known: set) -> None:
    """Emit where the region reads an attribute of an object, in whose place an earlier call has put another one of its
    class that has something else there."""
    rows = [{id(owner): attributes for owner, attributes, *_ in call.held} for call in calls]
    for owner, attributes in rows[0].items():
        for name, first in attributes.items():
            objects = [row.get(owner, {}).get(name) for row in rows]
            is_open = (owner, name) not in known | machine.region.overwritten.keys()
            if not is_open or len(set(map(id, objects))) < 2 or not are_alike(objects):
                continue
            for part in first.attributes:
                values = [row[id(it)].get(part, UNKNOWN) for row, it in zip(rows, objects)]
                read = machine.region.reads.get((id(first), part))
                what = variation(values) if read and (id(first), part) not in known else ""
                if what and what not in KINDS:  # BRK701 has numbers
                    _emit_read(machine, read, what, shown_values(values))


def _emit_read(
    machine: Machine, read: tuple[Activation, ast.AST], what: str, shown: tuple[str, ...]
) -> None:
    """Emit what differs between the calls at the place where the region reads it."""
    activation, node = read
    activation.seen = set(activation.seen)  # its call is over
    inside = Frame(activation.module, None, None, activation, True, 0, activation.function)
    name = machine.text(node, activation.module)
    machine.emit(Varies, node, inside, name=name, what=what, values=shown, use="other")


def _has_other_dimensions(store: Store) -> bool:
    dimensions = [getattr(value, "ndim", None) for value in (store.initial, store.value)]
    return None not in dimensions and dimensions[0] != dimensions[1]
