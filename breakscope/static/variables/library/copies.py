"""What `copy.copy` and `copy.deepcopy` make of containers, and around regions of objects: others, which
nobody outside of the call has."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import Dict, ExternalInstance, Instance, Sequence, Value
from breakscope.static.machine.machine import Machine


def copied(value: Value, deep: bool, depth: int = 0) -> Value:
    """The copy of a list or dict, `deep` with copies of what is in it; any other value as it is."""
    if depth > limits.DEEPEST_COPY:
        return value
    return value.rebuilt(lambda part: copied(part, deep, depth + 1) if deep else part)


def copied_object(machine: Machine, value: Value, deep: bool, depth: int = 0) -> Value:
    """The same with objects, and layers of torch's, which the copy has for itself."""
    if depth > limits.DEEPEST_COPY:
        return value

    def part_of(part: Value) -> Value:
        return copied_object(machine, part, deep, depth + 1) if deep else part

    if value.compiled_of is not None:
        made = copied_object(machine, value.original, deep, depth)
        return replace(made, compiled_of=made)
    if type(value) is Instance:
        made = Instance(value.cls, {k: part_of(v) for k, v in value.attributes.items()})
        machine.objects.kept.append(made)
        return made
    if type(value) is ExternalInstance and value.name.startswith("torch.nn."):
        return replace(value)
    made = value.rebuilt(part_of)
    if type(value) in (Sequence, Dict):
        made.home = value.home
    if type(value) is Sequence:
        made.names = value.names
    return made
