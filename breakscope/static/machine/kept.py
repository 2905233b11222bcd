"""What objects hold when a program calls what it compiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import Const, Dict, Instance, Sequence, Tensor, Value

LISTS = frozenset({"list", "deque"})
Item = tuple[int, tuple[str, object]]  # a container's id, and ("item", its key or index)


class Held(NamedTuple):
    """What an object held at a time."""

    owner: Instance
    attributes: dict[str, Value]
    lengths: dict[str, int]  # of its lists, which are changed in place
    items: dict[Item, Value]  # of its lists and dicts


def held_by(values: tuple[Value | None, ...]) -> tuple[Held, ...]:
    """What objects hold now, and those in them."""
    return tuple(
        Held(owner, dict(owner.attributes), dict(_lengths(owner)), dict(_items(owner)))
        for owner in _objects_in(values)
    )


def _items(owner: Instance) -> Iterator[tuple[Item, Value]]:
    for container in _containers_of(owner):
        for key, value in _entries(container):
            yield (id(container), ("item", key)), value.original


def _entries(container: Sequence | Dict) -> Iterator[tuple[object, Value]]:
    if type(container) is Dict:
        yield from container.items.items()
        return
    for index, value in enumerate(container.items):
        yield index, value
        yield index - len(container.items), value


def _containers_of(owner: Instance) -> Iterator[Sequence | Dict]:
    """The lists and dicts that an object holds, and those in them."""
    waiting = [(value.original, 2) for value in owner.attributes.values()]
    while waiting:
        value, depth = waiting.pop()
        if depth == 0 or not _is_changeable(value):
            continue
        yield value
        parts = value.items.values() if type(value) is Dict else value.items
        waiting += [(part.original, depth - 1) for part in parts]


def _is_changeable(value: Value) -> bool:
    if type(value) is Dict:
        return True
    return type(value) is Sequence and value.type in LISTS and value.items is not None


class Contents(NamedTuple):
    """What the lists and dicts of objects held at a time: each, with its items, what others are like, and whether it may
    have more keys."""

    held: list[tuple[Sequence | Dict, list | dict, Value, bool]]


def contents_of(values: tuple[Value | None, ...]) -> Contents:
    """What the lists and dicts hold now."""
    found = {id(c): c for owner in _objects_in(values) for c in _containers_of(owner)}
    return Contents([(c, c.items.copy(), c.element, _is_open(c)) for c in found.values()])


def _is_open(container: Sequence | Dict) -> bool:
    return type(container) is Dict and container.open


@contextmanager
def as_filled(contents: Contents) -> Iterator[None]:
    """Let lists and dicts hold what they held then."""
    last = Contents(
        [(c, c.items and c.items.copy(), c.element, _is_open(c)) for c, *_ in contents.held]
    )
    try:
        _fill(contents)
        yield
    finally:
        _fill(last)


def _fill(contents: Contents) -> None:
    for container, items, element, is_open in contents.held:
        container.items, container.element = items, element
        if type(container) is Dict:
            container.open = is_open


def _lengths(owner: Instance) -> Iterator[tuple[str, int]]:
    for name, value in owner.attributes.items():
        if type(value) is Sequence and value.type in LISTS and value.items is not None:
            yield name, len(value.items)


@contextmanager
def as_held(held: tuple[Held, ...]) -> Iterator[None]:
    """Let the objects hold what they held then."""
    last = tuple(Held(owner, dict(owner.attributes), {}, {}) for owner, *_ in held)
    try:
        _hold(held)
        yield
    finally:
        _hold(last)


def _hold(held: tuple[Held, ...]) -> None:
    for owner, attributes, *_ in held:
        owner.attributes.clear()
        owner.attributes.update(attributes)


def kept_in(held: tuple[Held, ...]) -> dict[tuple[int, str], Value]:
    """By object and name: the tensors, and the numbers in the place of some."""
    found = {}
    for owner, attributes, *_ in held:
        for name, value in attributes.items():
            value = value.original
            if type(value) is Tensor and value.kind != "parameter":
                found[id(owner), name] = _as_guarded(value)
            elif type(value) is Const and type(value.value) in (int, float):
                found[id(owner), name] = value
    return found


def counterparts(entered: Iterable[Value], given: Iterable[Value]) -> dict[int, int]:
    """The objects that a call is given, by id, with those in their places with which a region was entered."""
    found: dict[int, int] = {}
    waiting = list(zip(entered, given))
    while waiting:
        one, other = (value.original for value in waiting.pop())
        if one is other or id(other) in found or type(one) is not type(other):
            continue
        if isinstance(one, Instance) and one.cls.info is other.cls.info:
            found[id(other)] = id(one)
            parts, others = one.attributes, other.attributes
        elif isinstance(one, Dict):
            parts, others = one.items, other.items
        elif isinstance(one, Sequence) and one.items is not None and other.items is not None:
            parts, others = dict(enumerate(one.items)), dict(enumerate(other.items))
        else:
            continue
        waiting += [(part, others[name]) for name, part in parts.items() if name in others]
    return found


def _objects_in(values: tuple[Value | None, ...]) -> Iterator[Instance]:
    waiting = [(value, limits.DEEPEST_MODULE_WALK) for value in values]
    seen = set()
    while waiting:
        value, depth = waiting.pop()
        if id(value) in seen or depth == 0:
            continue
        seen.add(id(value))
        if isinstance(value, Instance):
            yield value
            inside = value.attributes.values()
        elif isinstance(value, Sequence | Dict):
            held = value.items or ()
            inside = held.values() if isinstance(held, dict) else held
        else:
            continue
        waiting += [(part.original, depth - 1) for part in inside]


def _as_guarded(value: Tensor) -> Tensor:
    """A buffer as any tensor."""
    if value.kind != "buffer":
        return value
    return replace(value, kind="", requires_grad=bool(value.requires_grad))
