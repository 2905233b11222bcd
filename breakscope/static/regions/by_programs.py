"""What the file's own calls show of a region that stands for any use of a class or function: what it finds on its
objects when it begins."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from breakscope.rulekit.events import Event, Mutate, Store, Varies
from breakscope.rulekit.values import options
from breakscope.rulekit.walking import walk
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.regions.region import Region


def settle_by_programs(
    regions: list[Region], of_programs: list[Region], calls: list[DrivenCall]
) -> None:
    """Let what a region changes on its objects be no surer than the program's calls show: an attribute that they
    never find to be None, a dict that they find to have the key, an object that each of them is given anew."""
    shown: dict[tuple[int, type], list[Event]] = {}
    for step in _changes(of_programs):
        shown.setdefault(_place(step.event), []).append(step.event)
    done = [call for call in calls if call.done is not None and call.done.ran]
    functions = {id(call.callee.info.node): call.callee.info.node for call in done}
    ran = _expressions_in(functions.values(), {part for call in done for part in call.done.ran})
    _settle_idle([*regions, *of_programs])
    for step in _changes(regions):
        event = step.event
        found = shown.get(_place(event), ())
        is_other = found and all(
            _began_otherwise(event, other) or other.at_most == "possible" for other in found
        )
        if is_other or (not found and id(event.node) in ran):
            step.event = replace(event, certainty="possible", at_most="possible")


def _settle_idle(regions: list[Region]) -> None:
    """Let nothing be sure in a function that Dynamo skips from its first call on."""
    steps = [
        (activation, step) for activation in _activations(regions) for step in activation.steps
    ]
    idle = {id(activation.node) for activation, step in steps if _is_idle(step)}
    for activation, step in steps:
        if id(activation.node) in idle and step.event is not None and not _is_idle(step):
            step.event = replace(step.event, certainty="possible", at_most="possible")


def _is_idle(step: Step) -> bool:
    return type(step.event) is Varies and step.event.what == "idle"


def _changes(regions: list[Region]) -> Iterator[Step]:
    for activation in _activations(regions):
        yield from (step for step in activation.steps if type(step.event) in (Store, Mutate))


def _activations(regions: list[Region]) -> Iterator[Activation]:
    """Those of the regions, and all inside of them, each once."""
    waiting = [part for region in regions for part in (region.activation, region.again) if part]
    seen: set[int] = set()
    while waiting:
        activation = waiting.pop()
        if id(activation) in seen:
            continue
        seen.add(id(activation))
        yield activation
        waiting += [step.child for step in activation.steps if step.child is not None]


def _place(event: Event) -> tuple[int, type]:
    return id(event.node), type(event)


def _began_otherwise(event: Event, shown: Event) -> bool:
    """True for an attribute that is None where nothing is known of the calls, and is set in all of these."""
    is_none = type(event) is Store and any(option.is_none for option in options(event.initial))
    return is_none and not any(option.is_none for option in options(shown.initial))


def _expressions_in(functions: Iterable[ast.AST], statements: set[int]) -> set[int]:
    """The ids of the statements that ran, and of the expressions that stand in them themselves."""
    found = set()
    for function in functions:
        for statement in walk(function):
            if id(statement) in statements:
                found.add(id(statement))
                if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign):
                    found |= {id(part) for part in walk(statement)}
    return found
