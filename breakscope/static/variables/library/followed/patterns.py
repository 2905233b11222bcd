"""Regular expressions in the code around a region: those are run that surely end soon."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

from breakscope import limits
from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.machine import Machine

try:
    from re import _constants as constants
    from re import _parser as parser
except ImportError:  # another Python than CPython
    parser = constants = None

# what is run, with the number of texts behind the pattern
RUN: dict[str, int] = {
    **dict.fromkeys(("findall", "split", "search", "match", "fullmatch"), 1),
    "sub": 2,
    "escape": 0,
}
MATCH = "re.Match"


def run_pattern(name: str, pattern: str, *given: object) -> object:
    """`re.findall(pattern, text)` and others. A ValueError for what may take long."""
    text = given[RUN[name] - 1] if RUN[name] and len(given) >= RUN[name] else ""
    if not isinstance(pattern, str) or not isinstance(text, str):
        raise TypeError(pattern)
    if name != "escape" and not _ends_soon(pattern, len(text)):
        raise ValueError(pattern)
    if (
        name == "sub"
        and isinstance(given[0], str)
        and len(given[0]) * len(text) > limits.MOST_PATTERN_STEPS
    ):
        raise ValueError("a long text")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a pattern will mean some day
            return getattr(re, name)(pattern, *given)
    except re.error as problem:
        raise ValueError(pattern) from problem


def compiled_pattern(machine: Machine, args: list[Value], kwargs: dict, node, frame) -> Value:
    """What `re.compile` gives: without flags, a pattern whose methods are run."""
    is_plain = len(args) == 1 and not kwargs
    return ExternalInstance("re.Pattern", tuple(args) if is_plain else ())


def call_match(owner: ExternalInstance, name: str, args: list[Value]) -> Value | None:
    """What a method of a match gives; `owner` has the whole match and its groups."""
    if not owner.args or name not in ("group", "groups", "__getitem__"):
        return None
    if name == "groups":
        return Sequence("tuple", [*owner.args[1:]]) if not args else None
    at = args[0].value if len(args) == 1 and isinstance(args[0], Const) else 0 if not args else None
    return owner.args[at] if type(at) is int and 0 <= at < len(owner.args) else None


def as_function(name: str) -> Callable[..., object]:
    """The function of `re` of that name, for the table of what is called."""
    return lambda pattern, *given: run_pattern(name, pattern, *given)


def _ends_soon(pattern: str, length: int) -> bool:
    """True where the most steps that backtracking takes are few: each repeat that may be as long as the text,
    and where a match begins, multiply by its length; each choice by two."""
    if parser is None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            steps = _steps(parser.parse(pattern), length + 1)
    except (re.error, OverflowError, RecursionError):
        return False
    return steps is not None and steps * (length + 1) <= limits.MOST_PATTERN_STEPS


def _steps(parsed: object, length: int, inside: bool = False) -> int | None:
    """How many ways there are to match; None for repeats in each other, and what is not known."""
    steps = 1
    for kind, given in parsed:
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            _, most, part = given
            within = None if inside else _steps(part, length, True)
            if within is None:
                return None
            steps *= min(int(most), length) * within + 1
        elif kind is constants.SUBPATTERN:
            within = _steps(given[-1], length, inside)
            if within is None:
                return None
            steps *= within
        elif kind is constants.BRANCH:
            ways = [_steps(part, length, inside) for part in given[1]]
            if inside or None in ways:
                return None
            steps *= sum(ways)
        elif kind in (constants.ASSERT, constants.ASSERT_NOT):
            within = _steps(given[1], length, inside)
            if within is None:
                return None
            steps *= within
        elif kind not in (
            *(constants.LITERAL, constants.NOT_LITERAL, constants.ANY),
            *(constants.IN, constants.AT),
        ):
            return None
    return steps
