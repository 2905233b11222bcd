"""Iterators, and what a dict's `values()` and `items()` are, that were made before a region, or before a break
in it, and kept: Dynamo goes over them only where it has seen them made."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Mutate
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Sequence,
    Tensor,
    Value,
    holds_modules,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.side_effects import note_closure
from breakscope.static.variables.effects.unmade_iterators import unmade_by

KEPT = "iterator made before the region"
HELD = "iterator made before a break"
GONE_OVER = "object of a skipped package gone over"
MAKES = frozenset({"iter", "zip", "map", "filter", "enumerate", "reversed"})
# what Python has made of these anew behind a break is not followed
LOST = frozenset({"zip", "map", "filter"})
# where Dynamo does not go on behind a break; `enumerate` draws its items in the loop over it
NOT_RESUMED = {
    "for": "loop",
    "enumerate": "loop",
    "comprehension": "comprehension",
    "star": "implicit",
    "unpack": "implicit",
    "in": "implicit",
    "with": "with",
}
# Dynamo has a model of the iterator of each
FOLLOWED = frozenset({"tuple", "range", "size"})


def note_made(name: str, args: list[Value], made: Value, frame: Frame) -> None:
    """Mark what a builtin has made outside of regions, and where a region has made it."""
    if name not in MAKES or type(made) is not Sequence or made.type != "iterator":
        return
    if frame.emits:
        made.unmade = unmade_by(name, args)
        is_plain = all(type(value) is Sequence and not holds_modules(value) for value in args[1:])
        if name in LOST and is_plain and not any(map(holds_modules, args[:1])):
            frame.activation.note_made(made)
        return
    source = args[0] if args else UNKNOWN
    is_followed = type(source) is Tensor or getattr(source, "type", "") in FOLLOWED
    made.is_once = name != "iter" or not (source.is_unknown or is_followed)


def note_kept(
    machine: Machine, values: list[Value], node: ast.AST, frame: Frame, construct: str
) -> None:
    """Emit that a region goes over one of these that was made before it, or before a break in it, or that is of
    a package which Dynamo skips."""
    if not frame.emits:
        return
    for value in values:
        if type(value) is ExternalInstance:
            note_skipped(machine, value, node, frame, construct)
        if type(value) is not Sequence:
            continue
        if value.type in ("iterator", "generator"):
            note_closure(machine, value, frame)
        if value.home and (value.is_once or value.type == "generator"):
            facts = (Const(construct), Const(value.home))
            emit_call(machine, KEPT, value, facts, {}, node, frame, "likely")
        elif value.home and value.type == "iterator" and construct == "next":
            machine.emit(Mutate, node, frame, home=value.home, method="next")
        made, at = frame.activation.named.get(id(value), (None, 0))
        if made is value:
            steps = frame.activation.steps
            before = len(steps)
            emit_call(machine, HELD, value, (Const(construct),), {}, node, frame, "likely")
            for step in steps[before:]:
                step.made_at = at


def note_skipped(
    machine: Machine, value: ExternalInstance, node: ast.AST, frame: Frame, construct: str
) -> None:
    """Emit that a region goes over, or enters, an object of a package which Dynamo skips, as a progress bar."""
    if value.name.partition(".")[0] not in machine.library.skipped_packages:
        return
    skips = frame.skips
    frame.skips = skips or NOT_RESUMED.get(construct, "")
    try:
        emit_call(machine, GONE_OVER, External(value.name), (), {}, node, frame)
    finally:
        frame.skips = skips
