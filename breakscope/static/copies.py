"""What `copy.copy` and `copy.deepcopy` make of containers: others, which nobody outside of the call has."""

from __future__ import annotations

from breakscope.values import Dict, Sequence, Value

DEEPEST = 8


def copied(value: Value, deep: bool, depth: int = 0) -> Value:
    """The copy of a list or dict, `deep` with copies of what is in it; any other value as it is."""
    if depth > DEEPEST or type(value) is not Sequence and type(value) is not Dict:
        return value

    def inner(part: Value) -> Value:
        return copied(part, deep, depth + 1) if deep else part

    if type(value) is Dict:
        return Dict({key: inner(part) for key, part in value.items.items()}, inner(value.element), value.open)
    items = [inner(part) for part in value.items] if value.items is not None else None
    return Sequence(value.type, items, inner(value.element))
