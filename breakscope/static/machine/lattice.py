"""The lattice of abstract values: what is known where paths meet, and keys under which calls are
remembered."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.static.machine.given import both

Given = tuple[str, str]  # the conditions under which a value is the first, and the second
ALWAYS: Given = ("", "")


def join(a: Value, b: Value, depth: int = 0, given: Given = ALWAYS) -> Value:
    """What is known of a value that is `a` on one path and `b` on another."""
    if a is b:
        return a
    if type(a) is not Union and type(b) is not Union:
        together = _merge(a, b, depth)
        if together is not None:
            if type(together) is Sequence and (given[0] or given[1]):
                _note_conditions(together, a, b, depth, given)
            return together
        return Union((a, b), given if given[0] or given[1] else ())
    merged, conditions = list(options(a)), _conditions(a, given[0])
    for value, condition in zip(options(b), _conditions(b, given[1])):
        _add(merged, conditions, value, condition, depth)
    if len(merged) == 1:
        return merged[0]
    kept = tuple(conditions) if any(conditions) else ()
    if (
        type(a) is Union
        and len(merged) == len(a.options)
        and kept == a.conditions
        and all(map(operator.is_, merged, a.options))
    ):
        return a
    if len(merged) > limits.MOST_OPTIONS and not _is_registered(merged):
        return UNKNOWN
    return Union(tuple(merged), kept)


def _note_conditions(
    together: Sequence, a: Sequence, b: Sequence, depth: int, given: Given
) -> None:
    """Keep under which condition what is in two lists that meet is the one's or the other's."""
    if _is_without(together.element) and together.items is None:
        ours, theirs = element_of(a), element_of(b)
        if type(ours) is not Union and type(theirs) is not Union:
            together.element = join(ours, theirs, depth + 1, given)
    for at, item in enumerate(together.items or ()):
        if _is_without(item) and a.items and b.items:
            together.items[at] = join(a.items[at], b.items[at], depth + 1, given)


def _is_without(value: Value) -> bool:
    return type(value) is Union and not value.conditions


def _is_registered(values: list[Value]) -> bool:
    """True for what a registry may hold, or give: classes, objects of these and of libraries, functions, None."""
    return len(values) <= limits.MOST_REGISTERED and all(
        type(value) in (Class, Function, Instance, ExternalInstance) or value.is_none
        for value in values
    )


def _conditions(value: Value, given: str) -> list[str]:
    """The condition of each option of a value that holds under `given`."""
    if type(value) is not Union:
        return [given]
    if not value.conditions:
        return [given] * len(value.options)
    return [both(given, condition) for condition in value.conditions]


def join_under(values: Iterable[Value], conditions: Iterable[str]) -> Value:
    """The join of values, each of which holds under a condition."""
    result, before = None, ""
    for value, condition in zip(values, conditions):
        result, before = (
            (value, condition)
            if result is None
            else (join(result, value, 0, (before, condition)), "")
        )
    return UNKNOWN if result is None else result


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


def _add(
    merged: list[Value], conditions: list[str], value: Value, condition: str, depth: int
) -> None:
    for i, other in enumerate(merged):
        together = other if other is value else _merge(other, value, depth)
        if together is not None:
            merged[i] = together
            if conditions[i] != condition:
                conditions[i] = ""
            return
    merged.append(value)
    conditions.append(condition)


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    """One value that stands for both, or None when a Union keeps both. What may be compiled is taken to be."""
    if type(a) is type(b):
        is_compiled = a.compiled_of is not None or b.compiled_of is not None
        if is_compiled and a.original is b.original:
            return b if a.compiled_of is None else a
        return a.merge(b, join_all, depth)
    return _any_number(a, b) if a.is_number and b.is_number else None


def _any_number(a: Value, b: Value) -> Value:
    """What stands for numbers of two kinds."""
    if a.is_scalar or b.is_scalar:
        return Scalar()
    if a.is_shape or b.is_shape:
        return ShapeInt()
    kinds = {type(x.value).__name__ if x.is_const else x.type for x in (a, b)}
    source = getattr(a, "source", "") or getattr(b, "source", "")
    return Py(kinds.pop() if len(kinds) == 1 else "number", source)


def join_elements(items: list[Value]) -> Value:
    """What stands anywhere in a sequence of unknown length: nothing is known of tensors beside values that are none,
    since of one position one of them is true."""
    is_mixed = any(item.is_tensor for item in items) and not all(
        item.is_tensor or item.is_const or item.is_unknown for item in items
    )
    return UNKNOWN if is_mixed else join_all(items)


def element_of(sequence: Sequence) -> Value:
    """What every element of a sequence is like."""
    return sequence.any_item(join_all)


def join_names(
    a: dict[str, Value],
    b: dict[str, Value],
    given: Given = ALWAYS,
    before: dict[str, Value] | None = None,
) -> dict[str, Value]:
    """The names known behind a branch; `before` are those in front of it. A name bound on one side
    only keeps its value: the other path would not use it."""
    if a is b:
        return a
    result = dict(a)
    for name, value in b.items():
        other = result.get(name)
        if other is None or other is value:
            result[name] = value
        elif before is not None and type(known := before.get(name)) in (Union, Tensor):
            # what each side only narrowed is behind the branch what it was before
            joined = join(other, value, 0, given)
            result[name] = known if _is_same(joined, known) else joined
        else:
            result[name] = join(other, value, 0, given)
    return result


def _is_same(joined: Value, before: Value) -> bool:
    if type(joined) is not Union:
        return False
    now = set(map(id, joined.options))
    if type(before) is Union:
        return now == set(map(id, before.options))
    return before.origin == "guess" and now == {id(before), id(UNKNOWN)}


def key_of(value: Value) -> object:
    """The key of an argument; see `Value.key`."""
    return value.key(limits.DEEPEST_KEY)
