"""Calls of what Dynamo traces as a subgraph of its own: checkpoints, hooks, backward functions."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    Const,
    Dict,
    Function,
    Instance,
    Method,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

CHANGED = "change of a plain value in a subgraph"  # as rules listen to it


CHANGING = Sequence | Dict | Instance


def call_within(
    machine: Machine, what: str, callee: Value, args, kwargs, node: ast.AST, frame: Frame
) -> Value:
    """Call what runs as a subgraph of its own: the events of what it does to the world outside carry it
    in `within`."""
    before, frame.within = frame.within, what
    outside, known = machine.region.outside_subgraph, len(machine.region.changed_plainly)
    scope = callee.scope if isinstance(callee, Function) else None
    while frame.emits and scope is not None:
        outside |= {id(v) for v in scope.names.values() if isinstance(v, CHANGING)}
        scope = scope.scope
    if frame.emits:
        outside |= {id(v) for v in (*args, *kwargs.values()) if isinstance(v, CHANGING)}
    if isinstance(callee, Method):
        outside.add(id(callee.receiver))
    try:
        return machine.call(callee, args, kwargs, node, frame)
    finally:
        frame.within = before
        if what == "checkpoint":
            _emit_changed(machine, machine.region.changed_plainly[known:], node, frame)


def _emit_changed(
    machine: Machine, stores: list[tuple[tuple, str, Value, Value]], node: ast.AST, frame: Frame
) -> None:
    """Emit which attributes have another plain value than before the subgraph, at its call."""
    last = {key: (name, initial, value) for key, name, initial, value in reversed(stores)}
    first = {key: initial for key, _, initial, _ in reversed(stores)}
    for key, name, _, value in stores:
        last[key] = name, first[key], value
    for name, initial, value in last.values():
        if not (type(initial) is Const and type(value) is Const and initial == value):
            emit_call(machine, CHANGED, None, (Const(name),), {}, node, frame, "likely")


def call_hook(machine: Machine, hook: Value, gradient: Tensor, node: ast.AST, frame: Frame) -> None:
    """Autograd calls a tensor's hook with its gradient: Dynamo makes it a part of the backward
    graph."""
    try:
        call_within(machine, "hook", hook, [gradient], {}, node, frame)
    except Raised:
        pass


def call_quietly(
    machine: Machine, hook: Value, args: list[Value], node: ast.AST, frame: Frame
) -> None:
    try:
        machine.call(hook, args, {}, node, frame)
    except Raised:
        pass
