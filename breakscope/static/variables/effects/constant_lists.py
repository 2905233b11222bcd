"""Lists that Dynamo has from a method of a constant, as `text.split()`: none of their methods that change them is
traced, until a break hands them to Python, from which they come back as any other list."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Py, Sequence, Value
from breakscope.static.machine.frames import Activation, Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

CHANGED = "change of a constant's list"
CHANGING = frozenset(
    "append extend insert pop remove clear reverse sort __setitem__ __delitem__".split()
)
LATER = frozenset({"tensor", "object"})  # texts that are no constants while Dynamo traces


def made_of_text(text: Value, made: Value, frame: Frame) -> Value:
    """Mark the list that a method of a text gives."""
    is_list = type(made) is Sequence and made.type == "list"
    if is_list and frame.emits and not (type(text) is Py and text.source in LATER):
        made.folded_at = (id(frame.activation), len(frame.activation.steps))
    return made


def same_kind(source: Sequence, part: Sequence) -> Sequence:
    """A slice of such a list is one."""
    part.folded_at = source.folded_at
    return part


def note_changed(
    machine: Machine, changed: Sequence, method: str, node: ast.AST, frame: Frame
) -> None:
    """Emit that a region changes one of these."""
    if changed.folded_at is None or method not in CHANGING or not frame.emits:
        return
    if not machine.wanted(CHANGED):
        return
    since = _steps_before(changed.folded_at, frame.activation)
    changed.folded_at = None
    steps = frame.activation.steps
    before = len(steps)
    emit_call(machine, CHANGED, changed, (Const(method),), {}, node, frame)
    for step in steps[before:]:
        step.held_since = since


def _steps_before(made: tuple[int, int], activation: Activation) -> int:
    """How many steps an activation had taken when the list was made, by itself or by what it called."""
    if made[0] == id(activation):
        return made[1]
    calls = (at for at, step in enumerate(activation.steps) if id(step.child) == made[0])
    return next(calls, 0)
