"""What objects hold when a program calls what it compiles."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import Const, Dict, Instance, Sequence, Tensor, Value


def kept_by(values: tuple[Value | None, ...]) -> dict[tuple[int, str], Value]:
    """By object and name: the tensors, and the numbers in the place of some, that objects hold now, and those
    in them."""
    found = {}
    for owner in _objects_in(values):
        for name, value in owner.attributes.items():
            value = value.original
            if type(value) is Tensor and value.kind != "parameter":
                found[id(owner), name] = _as_guarded(value)
            elif type(value) is Const and type(value.value) in (int, float):
                found[id(owner), name] = value
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
