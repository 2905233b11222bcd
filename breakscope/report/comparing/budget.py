"""What a project allows: how many breaks, how many recompiles after a step, how much eager code."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from breakscope.report.fact import Fact

BudgetName = Literal[
    "max-breaks",
    "max-recompiles-after",
    "min-coverage",
    "baseline-breaks",
    "baseline-recompiles",
    "baseline-skipped-frames",
    "baseline-coverage",
]
AFTER = r"(?P<step>\d{1,9})(?P<seconds>s?)(?::(?P<most>\d{1,9}))?"
PERCENT = r"(?P<number>\d{1,3}(?:\.\d{1,3})?)\s*%?"


class Budget(Fact):
    """One thing that was allowed, and what there is. `limit` and `found` are numbers of what `unit`
    names; `what` is both in words, one line."""

    name: BudgetName
    unit: str
    limit: float
    found: float
    kept: bool
    what: str

    @property
    def label(self) -> str:
        return "budget kept" if self.kept else "over budget"


class Stale(Fact):
    """An entry of a baseline that is not found any more; `content` is its source, or its message."""

    path: str
    code: str
    function: str
    content: str


class Baseline(Fact):
    """What a baseline took out of a report: `known` findings. `budgets` are what the same target did
    when it was written."""

    path: str
    known: int
    stale: tuple[Stale, ...] = ()
    budgets: tuple[Budget, ...] = ()


class After(Struct, frozen=True):
    """At most `most` recompiles after call `step` of a run, or `step` seconds after the first
    compile of a program."""

    step: int
    in_seconds: bool = False
    most: int = 0

    def __str__(self) -> str:
        return f"{self.step} s" if self.in_seconds else f"call {self.step}"


class Allowed(Struct, frozen=True, kw_only=True):
    """The budgets that hold, None for those that nobody set. `required` are those that the command
    line names: it is an error when a report cannot answer them."""

    breaks: int | None = None
    recompiles: After | None = None
    coverage: float | None = None  # percent
    required: frozenset[str] = frozenset()

    def or_else(self, other: Allowed) -> Allowed:
        """These, and what the other one says of what these leave open."""
        return Allowed(
            breaks=other.breaks if self.breaks is None else self.breaks,
            recompiles=other.recompiles if self.recompiles is None else self.recompiles,
            coverage=other.coverage if self.coverage is None else self.coverage,
            required=self.required | other.required,
        )


def read_after(text: str) -> After:
    """ "3", "3:1", "60s", "60s:2"; raises ValueError."""
    found = re.fullmatch(AFTER, text.strip())
    if not found:
        raise ValueError(
            f"{text!r} is no step; write 3 (no recompile after call 3), 3:1 (one at most), or 60s (seconds of a traced program)"
        )
    return After(int(found["step"]), bool(found["seconds"]), int(found["most"] or 0))


def read_percent(text: str) -> float:
    """ "80", "80%", "99.5"; raises ValueError."""
    found = re.fullmatch(PERCENT, text.strip())
    number = float(found["number"]) if found else -1.0
    if not 0 <= number <= 100:
        raise ValueError(f"{text!r} is no percentage; write a number from 0 to 100, such as 80")
    if 0 < number < 1:
        raise ValueError(f"{text!r} is less than one percent; write {number * 100:g} for a share")
    return number
