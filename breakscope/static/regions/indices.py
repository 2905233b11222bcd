"""Tensors of one number that a region is given and indexes by: torch reads the number, and Dynamo guards it."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Index, Varies
from breakscope.rulekit.values import Tensor, Value
from breakscope.static.machine.frames import Activation, Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.variation import given_others


def emit_indices(machine: Machine, frame: Frame, rows: list[dict[str, Value]]) -> None:
    """Emit where the region, of which each of `rows` is a call, indexes a tensor by a parameter that holds other
    numbers in some calls."""
    names = [name for name in rows[0] if all(name in row for row in rows)] if rows else []
    for name in names:
        values = [row[name] for row in rows]
        if all(map(_is_index, values)) and given_others(machine.driver, values):
            for node in _indexed_by(frame.activation, name):
                machine.emit(Varies, node, frame, name=name, what="index")


def _is_index(value: Value) -> bool:
    return type(value) is Tensor and (value.ndim, value.dtype, value.kind) == (0, "int", "")


def _indexed_by(activation: Activation, name: str) -> list[ast.Subscript]:
    """Where the activation indexes a tensor by its parameter itself."""
    found = []
    for step in activation.steps:
        event = step.event
        if type(event) is Index and type(event.node) is ast.Subscript:
            index = event.node.slice
            parts = index.elts if type(index) is ast.Tuple else [index]
            is_named = any(type(part) is ast.Name and part.id == name for part in parts)
            if is_named and not event.index.is_computed and not event.undecided:
                found.append(event.node)
    return found
