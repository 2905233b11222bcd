"""Names the places of containers that stand inside of containers which outlive a call."""

from __future__ import annotations

from breakscope import limits
from breakscope.rulekit.values import Dict, Sequence
from breakscope.static.machine.machine import Machine


def note_nested(
    machine: Machine, container: Sequence | Dict, home: str, depth: int = limits.DEEPEST_NOTED_HOME
) -> None:
    """Note where the lists and dicts inside a container live that outlives the call."""
    known = container.items.items() if type(container) is Dict else enumerate(container.items or ())
    inner = [
        (repr(key), part) for key, part in known if type(part) is Sequence or type(part) is Dict
    ]
    if isinstance(container.element, Sequence | Dict):
        inner.append(("...", container.element))
    for name, value in inner:
        if not value.home:
            machine.objects.inner_homes[id(value)] = value, f"{home}[{name}]"
            if depth:
                note_nested(machine, value, f"{home}[{name}]", depth - 1)


def home_of(machine, container: Sequence | Dict) -> str:
    """Where a container lives that stands inside of another one; "" for a local."""
    found = machine.objects.inner_homes.get(id(container))
    if found is None:
        found = machine.world.inner_homes.get(id(container), (container, ""))
    return found[1]
