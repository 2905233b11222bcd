"""What the values of options may be."""

from __future__ import annotations

import math
import re

import click

from breakscope.texts import did_you_mean


class OneOf(click.Choice):
    """One of some words."""

    def convert(self, value, param, ctx) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            known = f"there are {', '.join(self.choices)}"
            hint = did_you_mean(value, self.choices).removeprefix("; ") or known
            self.fail(f"there is no {value!r}; {hint}", param, ctx)


class Seconds(click.FloatRange):
    """A finite number of seconds above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value, param, ctx) -> float:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


class Bytes(click.ParamType):
    """A size in bytes: 0, 500M, 1.5G; the units are powers of 1024."""

    name = "size"

    def convert(self, value, param, ctx) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(
            r"(\d{1,15}(?:\.\d{1,3})?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE
        )
        if not found:
            self.fail(f"{value!r} is no size; write one such as 8G or 500M.", param, ctx)
        return round(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


class Codes(click.ParamType):
    """Codes or prefixes, separated by commas."""

    name = "codes"

    def convert(self, value, param, ctx) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(code.strip() for code in value.split(",") if code.strip())
