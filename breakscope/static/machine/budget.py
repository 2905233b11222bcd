"""How much work the analysis of one file may take: steps are counted, not seconds, so that the answer
is the same everywhere."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from breakscope import limits
from breakscope.static.machine.frames import GO_ON, Frame, OutOfBudget
from breakscope.static.machine.gaps import why

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine


class Budget:
    """The steps of a file, and of the region that is being followed."""

    __slots__ = ("_before", "_more", "_most", "_steps")

    def __init__(self) -> None:
        self._before = 0  # steps of all that is done
        self._steps = 0
        self._most = limits.MOST_REGION_STATEMENTS
        self._more = limits.MORE_STATEMENTS

    def begin(self) -> None:
        """Start the next region with steps of its own."""
        self._allow(limits.MOST_REGION_STATEMENTS)
        self._more = limits.MORE_STATEMENTS

    def go_on(self) -> None:
        """Allow some more steps to a region that used up its own, each time half as many."""
        self._allow(self._more)
        self._more //= 2

    def spend(self, steps: int) -> None:
        """Count steps; raises OutOfBudget."""
        self._steps += steps
        if self._steps > self._most:
            raise OutOfBudget

    @property
    def is_scarce(self) -> bool:
        """True where a share of the region's steps is used up: what multiplies its calls is followed with
        less care from there on."""
        return self._steps > self._most * limits.SHARE_WITH_CARE

    def _allow(self, steps: int) -> None:
        """Never more than a share of what is left to the file."""
        self._before += self._steps
        self._steps = 0
        left = int((limits.MOST_FILE_STATEMENTS - self._before) * limits.SHARE_OF_A_REGION)
        self._most = min(steps, max(left, 0))


def exec_apart(machine: Machine, node: ast.stmt, frame: Frame) -> int:
    """Run a statement whose used-up budget is no loss to those behind it, and no gap in a file that
    does without torch where it stands outside of regions."""
    state = frame.state()
    try:
        return machine.exec(node, frame)
    except OutOfBudget as problem:
        frame.restore(state)
        if frame.emits or "torch" in frame.module.source:
            machine.give_up(why(problem), node, frame)
        machine.budget.go_on()
        return GO_ON
