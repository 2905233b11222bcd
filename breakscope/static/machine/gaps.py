"""Where the analysis gave up, and why: a gap is said in the report, and never ends in silence."""

from __future__ import annotations

import os

from breakscope import limits
from breakscope.report.model import Gap
from breakscope.static.machine.frames import OutOfBudget, Raised
from breakscope.static.project.files import relative_path

# what passes through the machine: all else is an error of ours, which is confined
PASSING = (Raised, OutOfBudget)
TOO_MUCH_WORK = "takes too much work to be followed to its end"
TOO_DEEP = "the calls here are nested too deeply to be followed further"


def why(problem: Exception, what: str = "this code") -> str:
    """What an exception of the analyzer means for a reader; raises it again for who looks for its
    cause."""
    if isinstance(problem, RecursionError):
        return f"{what} is nested too deeply to be followed"
    if isinstance(problem, MemoryError):
        return f"{what} takes too much memory to be followed"
    if isinstance(problem, OutOfBudget):
        return f"{what} {TOO_MUCH_WORK}"
    if "BREAKSCOPE_DEBUG" in os.environ:
        raise problem
    text = " ".join(str(problem).split())[: limits.LONGEST_ERROR_TEXT]
    return (
        f"{what} could not be followed: internal error {type(problem).__name__}: {text}; "
        "please report it (BREAKSCOPE_DEBUG=1 shows where)"
    )


class Gaps:
    """The gaps of one file."""

    def __init__(self) -> None:
        self._found: dict[Gap, None] = {}

    def add(self, message: str, path: str, line: int, function: str) -> None:
        """Note a gap at a place in a file (absolute path); of many, the first ones."""
        if len(self._found) < limits.MOST_GAPS:
            gap = Gap(message=message, path=relative_path(path), line=line, function=function)
            self._found.setdefault(gap)

    def include(self, gaps: tuple[Gap, ...]) -> None:
        """Add what another analysis gave up that this one leans on."""
        self._found.update(dict.fromkeys(gaps))

    def all(self) -> tuple[Gap, ...]:
        return tuple(self._found)
