"""Runs blocks of statements, and counts the statements against a region's budget."""

from __future__ import annotations

import ast

from breakscope.static.interpreter.bare_ends import note_bare_ends
from breakscope.static.machine import budget
from breakscope.static.machine.frames import GO_ON, RAISE, Frame, Raised
from breakscope.static.machine.machine import Machine


def exec_block(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    machine.budget.spend(len(body))
    for statement in body:
        before = len(frame.activation.steps) if frame.emits else 0
        status = machine.exec(statement, frame)
        if frame.emits and len(frame.activation.steps) > before:
            note_bare_ends(machine, statement, before, frame)
        if status:
            return status
    return GO_ON


def exec_apart(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    """The same of a region's own function: a statement that takes too much work does not cost those
    behind it."""
    for statement in body:
        machine.budget.spend(1)
        before = len(frame.activation.steps)
        status = budget.exec_apart(machine, statement, frame)
        if len(frame.activation.steps) > before:
            note_bare_ends(machine, statement, before, frame)
        if status:
            return status
    return GO_ON


def exec_path(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    """Run one of several possible paths: an exception ends the path, not the function."""
    try:
        return exec_block(machine, body, frame)
    except Raised:
        return RAISE
