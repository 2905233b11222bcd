"""Iterators, and what a dict's `values()` and `items()` are, that were made before a region and kept:
Dynamo goes over them only where it has seen them made."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Sequence, Tensor, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

KEPT = "iterator made before the region"
MAKES = frozenset({"iter", "zip", "map", "filter", "enumerate", "reversed"})
# Dynamo has a model of the iterator of each
FOLLOWED = frozenset({"tuple", "range", "size"})


def note_made(name: str, args: list[Value], made: Value, frame: Frame) -> None:
    """Mark what a builtin has made outside of regions."""
    if frame.emits or name not in MAKES or type(made) is not Sequence or made.type != "iterator":
        return
    source = args[0] if args else None
    is_followed = type(source) is Tensor or getattr(source, "type", "") in FOLLOWED
    made.is_once = name != "iter" or (type(source) is Sequence and not is_followed)


def note_kept(
    machine: Machine, values: list[Value], node: ast.AST, frame: Frame, construct: str
) -> None:
    """Emit that a region goes over one of these that was made before it."""
    if not frame.emits or not machine.wanted(KEPT):
        return
    for value in values:
        is_kept = type(value) is Sequence and value.home
        if is_kept and (value.is_once or value.type == "generator"):
            facts = (Const(construct), Const(value.home))
            emit_call(machine, KEPT, value, facts, {}, node, frame, "likely")
