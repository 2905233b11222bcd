"""The base of all facts of a report, and those that stand in several of them."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, omit_defaults=False, kw_only=True):
    """Base of all facts: immutable, compared by value."""


class Cell(Fact):
    """A place in a notebook: in its cell of this number, from 1, code or not."""

    number: int
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


class Link(Fact):
    """One step of a call chain, outermost first: `function` was entered at `path`:`line`."""

    path: str
    line: int
    function: str
    cell: Cell | None = None


class ReportError(Fact):
    """Something that could not be done: `path` may be empty; `detail` may hold the user's
    traceback."""

    message: str
    path: str = ""
    line: int = 0
    detail: str = ""
    cell: Cell | None = None


class Gap(Fact):
    """A place at which the analysis of source gave up: breaks that depend on it may be missing.
    `path` is empty where no place is known."""

    message: str  # why, in plain words
    path: str = ""
    line: int = 0
    function: str = ""  # qualified name of the function that holds the line, "" at module level
    cell: Cell | None = None


class Elsewhere(Fact):
    """Findings that are left out because a check was not asked for their file."""

    path: str
    findings: int
