"""The base of all facts of a report, and the link that several of them hold."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, omit_defaults=False, kw_only=True):
    """Base of all facts: immutable, compared by value."""


class Link(Fact):
    """One step of a call chain, outermost first: `function` was entered at `path`:`line`."""

    path: str
    line: int
    function: str
