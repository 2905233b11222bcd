"""Lists around a region of which a filter with an open test decides how long they are: what is made of one has another
size for another list."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import Const, Sequence, Tensor, Value
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.tensors.sizes import DrawnSize


def note_filtered(machine: Machine, made: Sequence, source: Value, is_filter: bool) -> None:
    """Note the length of a list that was made of `source`, by a filter, or item by item of what a filter made."""
    known = machine.driver.filtered.get(id(source.original))
    length = DrawnSize(source.original) if is_filter else known and known[1]
    if length is not None:
        machine.driver.filtered[id(made)] = made, length


def with_filtered_length(
    machine: Machine, result: Value, data: Value, last: str, dim: Value | None
) -> Value:
    """A tensor of such a list, of its items side by side, or one behind the other."""
    known = machine.driver.filtered.get(id(data.original))
    if known is None or type(result) is not Tensor or dim not in (None, Const(0)):
        return result
    element = data.original.element
    if last in ("stack", "cat"):
        rest = element.shape if type(element) is Tensor else None
        if rest is None or (last == "cat" and not rest):
            return result
        shape = (known[1], *(rest if last == "stack" else rest[1:]))
    elif result.ndim == 1:
        shape = (known[1],)
    else:
        return result
    return replace(result, shape=shape, ndim=len(shape))
