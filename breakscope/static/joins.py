"""Joining abstract values where paths meet, and keys under which calls are remembered."""

from __future__ import annotations

import operator

from breakscope.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
    options,
)

MOST_OPTIONS = 5
MOST_APART = 9  # items of two tuples of different lengths that are kept apart
DEEPEST = 8  # containers in each other that are joined item by item; a dict may hold itself


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
    if type(a) is Union and len(merged) == len(a.options) and all(map(operator.is_, merged, a.options)):
        return a
    if len(merged) > MOST_OPTIONS:
        return UNKNOWN
    return Union(tuple(merged))


def join_all(values, depth: int = 0) -> Value:
    """The join of any number of values; UNKNOWN for none, and for more different ones than are kept apart."""
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
        together = _merge(other, value, depth) if type(other) in _NUMBERS or type(other) is type(value) else None
        if together is not None:
            merged[i] = together
            return
    merged.append(value)


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    """One value that stands for both, or None when they are better kept apart."""
    kind = type(a)
    if kind is not type(b):
        if kind in _NUMBERS and type(b) in _NUMBERS:
            return _merge_numbers(a, b)
        return None
    if a.is_unknown:
        return UNKNOWN
    if kind is Tensor:
        if a == b:
            return a
        return Tensor(
            a.dtype if a.dtype == b.dtype else None,
            a.ndim if a.ndim == b.ndim else None,
            a.shape if a.shape == b.shape else None,
            a.sure and b.sure,
            a.kind if a.kind == b.kind else "",
            a.origin if a.origin == b.origin else "op",
            a.requires_grad if a.requires_grad == b.requires_grad else None,
        )
    if kind is Const:
        if type(a.value) is type(b.value) and a.value == b.value:
            return a
        if a.value is None or b.value is None:
            return None
        if type(a.value) is type(b.value):
            return Py(type(a.value).__name__)
        return None
    if kind is Py:
        if a.type == b.type:
            if a.source == b.source:
                return a if a.usual == b.usual else Py(a.type, a.source)
            return Py(a.type, "draw" if "draw" in (a.source, b.source) else a.source or b.source)
        return None
    if kind is Sequence:
        if a.type != b.type or a.home != b.home:
            return None
        if depth >= DEEPEST:
            return Sequence(a.type, None, UNKNOWN, a.home)
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return Sequence(a.type, [join(x, y, depth + 1) for x, y in zip(a.items, b.items)], home=a.home)
        if a.type == "tuple" and not a.home and a.items and b.items and len(a.items) + len(b.items) <= MOST_APART:
            return None  # what stands at a place is known for each
        return Sequence(a.type, None, join(element_of(a), element_of(b), depth + 1), a.home)
    if kind is ShapeInt:
        return a if a.value == b.value else ShapeInt()
    if kind is Scalar:
        return a if a.type == b.type else Scalar()
    if kind is Dict and a.home == b.home:
        if depth >= DEEPEST:
            return Dict({}, UNKNOWN, True, a.home)
        items = {k: join(a.items[k], b.items[k], depth + 1) for k in a.items.keys() & b.items.keys()}
        rest = [v for d, o in ((a, b), (b, a)) for k, v in d.items.items() if k not in o.items]
        return Dict(items, join_all([a.element, b.element, *rest], depth + 1), True, a.home)
    if kind in (External, ExternalInstance):
        return a if a == b else None
    if kind is Function:
        return a if a.info is b.info and a.bound is b.bound and a.scope is b.scope and a.args == b.args else None
    if kind is Class:
        return a if a.info is b.info else None
    if kind is Method:
        return a if a.name == b.name and a.receiver is b.receiver else None
    return None


def _merge_numbers(a: Value, b: Value) -> Value | None:
    if not (is_number(a) and is_number(b)):
        return None
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return Scalar()
    if isinstance(a, ShapeInt) or isinstance(b, ShapeInt):
        return ShapeInt()
    return Py("number", getattr(a, "source", "") or getattr(b, "source", ""))


_NUMBERS = frozenset({Const, Py, ShapeInt, Scalar})
_HASHABLE = frozenset({type(None), bool, int, float, str, bytes})


def is_number(value: Value) -> bool:
    kind = type(value)
    if kind is Const:
        return isinstance(value.value, int | float)
    if kind is Py:
        return value.type in ("int", "float", "number", "bool")
    return kind is ShapeInt or kind is Scalar


def element_of(sequence: Sequence) -> Value:
    """What every element of a sequence is like."""
    if sequence.items is None:
        return sequence.element
    return join_all(sequence.items) if sequence.items else UNKNOWN


def join_names(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """The names known behind a branch. A name bound on one side only keeps its value: the other path would not use it."""
    if a is b:
        return a
    result = dict(a)
    for name, value in b.items():
        other = result.get(name)
        result[name] = value if other is None or other is value else join(other, value)
    return result


def key_of(value: Value, depth: int = 3):
    """A hashable key: two values with the same key may share one analysis of a call."""
    kind = type(value)
    if kind is Tensor:
        return ("t", value.dtype, value.sure, value.kind)
    if kind is Instance:
        return ("i", id(value), value.version)
    if kind is Const:
        if type(value.value) not in _HASHABLE:
            try:
                hash(value.value)
            except TypeError:
                return ("c", id(value))
        return ("c", type(value.value), value.value)
    if kind is Py:
        return ("p", value.type, value.source)
    if kind in (ShapeInt, Scalar):
        return (kind,)
    if kind is Sequence:
        if depth == 0:
            return ("s", value.type)
        if value.items is None:
            return ("s", value.type, value.home, key_of(value.element, depth - 1))
        if len(value.items) > 12:
            return ("s", value.type, value.home, len(value.items))
        return ("s", value.type, value.home, *[key_of(v, depth - 1) for v in value.items])
    if kind is Dict:
        if depth == 0 or len(value.items) > 24:
            return ("d", id(value))
        return ("d", value.home, value.open, tuple([(k, key_of(v, depth - 1)) for k, v in value.items.items()]))
    if kind is Union:
        return ("u", frozenset([key_of(v, depth) for v in value.options]))
    if kind is Function:
        return ("f", id(value.info), id(value.bound), id(value.scope), tuple([key_of(v, depth) for v in value.args]))
    if kind is Class:
        return ("k", id(value.info))
    if kind is External:
        return ("e", value.name)
    if kind is ExternalInstance:
        return ("x", id(value))
    if kind is Method:
        return ("m", value.name, key_of(value.receiver, depth))
    return (kind, id(value))
