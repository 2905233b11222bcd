"""Iterators that Dynamo cannot make anew where a break comes while something goes over them: `enumerate(...)` and
other generators that change something as they run, and those over dicts, sets and lists of modules."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Dict, Function, Sequence, Tensor, Value, holds_modules
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

CALL, LOOP = "call", "loop"
HANDED = "generator handed to a call"
ZIPPED = {"zip": 0, "map": 1, "filter": 1}  # the first argument that each goes over
SETS = frozenset({"set", "frozenset"})
COUNTED = frozenset({"list", "tuple", "size", "iterator"})


def unmade_by(name: str, args: list[Value]) -> str:
    """Where what a builtin has made of its arguments cannot be made anew, as in `Sequence.unmade`."""
    if name == "enumerate":
        return CALL if args and _is_counted_by_generator(args[0]) else ""
    sources = args[ZIPPED[name] :] if name in ZIPPED else []
    if any(type(value) is Sequence and value.unmade == CALL for value in sources):
        return CALL
    return LOOP if any(map(is_unmade, sources)) else ""


def _is_counted_by_generator(source: Value) -> bool:
    """True for what `enumerate` is a generator over; of ranges, dicts, sets and lists of modules Dynamo has the rows."""
    if type(source) is not Sequence or holds_modules(source):
        return type(source) is Tensor
    return source.unmade == CALL or (source.type in COUNTED and not source.unmade)


def is_unmade(source: Value) -> bool:
    """True where a break in a comprehension or a loop over it skips the function."""
    if type(source) is Sequence:
        return bool(source.unmade) or source.type in SETS or holds_modules(source)
    return type(source) is Dict


def unmade(made: Value, where: str, frame: Frame) -> Value:
    """A generator, marked as one that a region made, or that was made before."""
    if type(made) is Sequence:
        made.unmade = where if frame.emits else made.unmade
        made.is_once = made.is_once or not frame.emits
    return made


def note_handed(
    machine: Machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Mark the call just noted where it is given such a generator: a break inside skips its function."""
    given = (*args, *kwargs.values())
    if CALL not in [value.unmade for value in given if type(value) is Sequence]:
        return
    steps = frame.activation.steps
    called, before = steps[-1], len(steps)
    if not frame.activation.is_compiled_by_itself or called.event is not None:
        return
    emit_call(machine, HANDED, function, args, kwargs, node, frame)
    if len(steps) > before:
        called.event, called.made_at = steps.pop().event, before
