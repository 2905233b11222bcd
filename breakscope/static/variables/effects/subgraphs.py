"""Calls of what Dynamo traces as a subgraph of its own: checkpoints, hooks, backward functions."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Dict, Function, Method, Sequence, Tensor, Value
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine


def call_within(
    machine: Machine, what: str, callee: Value, args, kwargs, node: ast.AST, frame: Frame
) -> Value:
    """Call what runs as a subgraph of its own: the events of what it does to the world outside carry it
    in `within`."""
    before, frame.within = frame.within, what
    scope = callee.scope if isinstance(callee, Function) else None
    while frame.emits and scope is not None:
        machine.region.outside_subgraph |= {
            id(v) for v in scope.names.values() if isinstance(v, Sequence | Dict)
        }
        scope = scope.scope
    if isinstance(callee, Method):
        machine.region.outside_subgraph.add(id(callee.receiver))
    try:
        return machine.call(callee, args, kwargs, node, frame)
    finally:
        frame.within = before


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
