"""Iterators of itertools in the code around a region, with their items where these are known."""

from __future__ import annotations

import itertools

from breakscope import limits
from breakscope.rulekit.values import Const, Dict, Sequence, Value, int_of

COMBINES = {
    "product": itertools.product,
    "permutations": itertools.permutations,
    "combinations": itertools.combinations,
    "combinations_with_replacement": itertools.combinations_with_replacement,
}


def followed_items(name: str, args: list[Value]) -> Sequence | None:
    """The first items of what a function of itertools gives; None where they are not known, or where it
    refuses its arguments."""
    try:
        return _items(name, args)
    except (TypeError, ValueError):
        return None


def _items(name: str, args: list[Value]) -> Sequence | None:
    if name == "count":
        given = [int_of(arg) for arg in args]
        start, step = (*given, *(0, 1)[len(given) :])[:2]
        if start is None or step is None:
            return None
        return _iterator(Const(start + step * at) for at in range(limits.MOST_KNOWN_TURNS))
    if name == "repeat":
        times = int_of(args[1]) if len(args) > 1 else limits.MOST_KNOWN_TURNS
        return None if times is None else _iterator(itertools.repeat(args[0], times))
    rows = [_items_of(arg) for arg in args]
    if rows[0] is None:
        return None
    if name == "cycle":
        return _iterator(itertools.cycle(rows[0]))
    numbers = [int_of(arg) for arg in args[1:]]
    if name == "islice" and numbers and None not in numbers:
        return _iterator(itertools.islice(rows[0], *numbers))
    if name in COMBINES and (name == "product" or len(args) == 2):
        given = rows if name == "product" else [rows[0], *numbers]
        if None not in given:
            return _iterator(Sequence("tuple", [*row]) for row in COMBINES[name](*given))
    return None


def _items_of(value: Value) -> list[Value] | None:
    """What going over a list, a dict or a text gives."""
    if isinstance(value, Sequence):
        return value.items
    if isinstance(value, Dict):
        return None if value.open else [Const(key) for key in value.items]
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return [Const(letter) for letter in value.value] if is_text else None


def _iterator(items) -> Sequence:
    return Sequence("iterator", [*itertools.islice(items, limits.MOST_KNOWN_TURNS)])
