"""Output formats: every module in this folder is one, under its own name, and defines

    render(report: Report, options: RenderOptions) -> str

It may also define `WANTS_RULES = True` to receive the rules' own texts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from msgspec import Struct

from breakscope.errors import UserError
from breakscope.report.model import Report
from breakscope.texts import did_you_mean


class RuleText(Struct, frozen=True):
    """What a format may show of a rule."""

    code: str
    name: str
    severity: str
    title: str
    page: str


class RenderOptions(Struct, frozen=True):
    """`width` is the terminal's number of columns, None where lines must not be wrapped (a file, a
    pipe).

    With `fixes` a format shows the suggested rewrites themselves, where it else only names that
    there is one. With `diff_only` a format for people shows the diff of what would be fixed, and
    nothing else. `top` is how many findings the text format shows, the worst first; 0 means all. With
    `statistics` it is a table of counts, and `quiet` leaves out what is no finding and no failure.
    """

    color: bool = False
    width: int | None = None
    fixes: bool = False
    diff_only: bool = False
    top: int = 0
    statistics: bool = False
    quiet: bool = False
    rules: Mapping[str, RuleText] = {}


def names() -> tuple[str, ...]:
    """The formats that exist, by name."""
    files = (os.path.splitext(name) for folder in __path__ for name in os.listdir(folder))
    return tuple(sorted(name for name, end in files if end == ".py" and not name.startswith("_")))


def load(name: str) -> ModuleType:
    """The module of a format; raises UserError when there is none of this name."""
    if name.startswith("_") or name not in names():
        hint = did_you_mean(name, names()) or f"; the formats are {', '.join(names())}"
        raise UserError(f"no output format {name!r}{hint}")
    return import_module(f"{__name__}.{name}")


def render(report: Report, name: str, options: RenderOptions) -> str:
    """The report in the format `name`; "" when there is nothing to show."""
    return load(name).render(report, options)
