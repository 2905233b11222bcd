"""Methods of objects that the region makes: a break inside skips the function that calls them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from breakscope.rulekit.events import Event
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.rule import Rule
from breakscope.static.findings.seen import Seen
from breakscope.static.findings.verdicts import keep, verdict_of
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.given import both

Problems = Callable[[Event, Activation], list[tuple[Rule, Problem]]]


def skips_caller(step: Step, seen: Seen, problems: Problems, condition: str = "") -> bool:
    """True where a step calls a method of an object made in the same function: the break inside it,
    which may need a condition, is reported for the call too."""
    if step.event is None or seen.skipped or seen.last_break >= step.made_at:
        return False
    event = replace(step.event, condition=both(step.event.condition, condition))
    found = problems(event, seen.activation)
    for rule, problem in found:
        chain = (*seen.way.chain, (seen.activation, step.node))
        keep(verdict_of(rule, problem, event, seen.way, chain), seen.found)
    return bool(found)
