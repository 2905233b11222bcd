"""Objects that each call is given anew, as a cache for each sentence: what the region changes on one of them no other
call finds."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import Dict, Sequence, Value
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.kept import Held, counterparts
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.variation import describe


def settle_given_anew(machine: Machine, calls: list[DrivenCall]) -> None:
    """Let what a region changes on an object be no surer than possible where each later call is given another one, that
    holds then what the first one held."""
    anew = _alike_in_all(calls)
    changes = [(a, index, key) for a, index, key in machine.region.pending if key in anew]
    changes += [(a, index, of) for a, index, of in machine.region.grown if of in anew]
    for activation, index, _ in changes:
        step = activation.steps[index]
        step.event = replace(step.event, certainty="possible", at_most="possible")


def _alike_in_all(calls: list[DrivenCall]) -> set[object]:
    """The attributes, by object and name, and the lists and dicts in them, of objects of the first call in whose place
    each later call has another object with the like."""
    first, *others = calls
    rows = [_found_anew(first, call) for call in others]
    return set.intersection(*rows) if rows else set()


def _found_anew(first: DrivenCall, call: DrivenCall) -> set[object]:
    places = counterparts(_given(first), _given(call))
    begun = {id(held.owner): held for held in first.held}
    found: set[object] = set()
    for held in call.held:
        one = begun.get(places.get(id(held.owner), 0))
        for name, value in one.attributes.items() if one is not None else ():
            other = held.attributes.get(name)
            if other is None:
                continue
            if isinstance(value, Sequence | Dict):
                if _keys(one, value) == _keys(held, other):
                    found |= {(id(one.owner), name), id(value.original)}
            elif describe(value) == describe(other):
                found.add((id(one.owner), name))
    return found


def _keys(held: Held, container: Value) -> set[object]:
    """What a list or dict had items under."""
    return {key for (of, key) in held.items if of == id(container.original)}


def _given(call: DrivenCall) -> list[Value]:
    return [*call.args, *(call.kwargs[name] for name in sorted(call.kwargs))]
