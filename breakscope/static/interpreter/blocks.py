"""Runs blocks of statements, and counts the statements against a region's budget."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.static.machine.frames import GO_ON, RAISE, Frame, OutOfBudget, Raised
from breakscope.static.machine.machine import Machine


def exec_block(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    machine.region.work += len(body)
    if machine.region.work > limits.MOST_REGION_STATEMENTS:
        raise OutOfBudget
    for statement in body:
        status = machine.exec(statement, frame)
        if status:
            return status
    return GO_ON


def exec_path(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    """Run one of several possible paths: an exception ends the path, not the function."""
    try:
        return exec_block(machine, body, frame)
    except Raised:
        return RAISE
