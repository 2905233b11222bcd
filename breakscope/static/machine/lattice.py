"""The lattice of abstract values: what is known where paths meet, and keys under which calls are
remembered."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Union,
    Value,
    options,
)


def join(a: Value, b: Value, depth: int = 0) -> Value:
    """What is known of a value that is `a` on one path and `b` on another."""
    if a is b:
        return a
    if type(a) is not Union and type(b) is not Union:
        together = _merge(a, b, depth)
        return together if together is not None else Union((a, b))
    merged = list(options(a))
    for value in options(b):
        _add(merged, value, depth)
    if len(merged) == 1:
        return merged[0]
    if (
        type(a) is Union
        and len(merged) == len(a.options)
        and all(map(operator.is_, merged, a.options))
    ):
        return a
    if len(merged) > limits.MOST_OPTIONS:
        return UNKNOWN
    return Union(tuple(merged))


def join_all(values: Iterable[Value], depth: int = 0) -> Value:
    """The join of any number of values; UNKNOWN for none, and for more different ones than a Union
    holds."""
    result = None
    for value in values:
        if result is None:
            result = value
        elif result is not value:
            before, result = result, join(result, value, depth)
            if result is UNKNOWN and not before.is_unknown:
                return UNKNOWN  # what comes next would stand for all
    return UNKNOWN if result is None else result


def _add(merged: list[Value], value: Value, depth: int) -> None:
    for i, other in enumerate(merged):
        if other is value:
            return
        together = _merge(other, value, depth)
        if together is not None:
            merged[i] = together
            return
    merged.append(value)


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    """One value that stands for both, or None when a Union keeps both."""
    if type(a) is type(b):
        return a.merge(b, join_all, depth)
    return _any_number(a, b) if a.is_number and b.is_number else None


def _any_number(a: Value, b: Value) -> Value:
    """What stands for numbers of two kinds."""
    if a.is_scalar or b.is_scalar:
        return Scalar()
    if a.is_shape or b.is_shape:
        return ShapeInt()
    return Py("number", getattr(a, "source", "") or getattr(b, "source", ""))


def element_of(sequence: Sequence) -> Value:
    """What every element of a sequence is like."""
    return sequence.any_item(join_all)


def join_names(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """The names known behind a branch. A name bound on one side only keeps its value: the other
    path would not use it."""
    if a is b:
        return a
    result = dict(a)
    for name, value in b.items():
        other = result.get(name)
        result[name] = value if other is None or other is value else join(other, value)
    return result


def key_of(value: Value) -> object:
    """The key of an argument; see `Value.key`."""
    return value.key(limits.DEEPEST_KEY)
