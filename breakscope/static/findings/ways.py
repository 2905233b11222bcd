"""How a region comes from one activation into what it calls."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import plain_parameters, positional_parameters
from breakscope.static.findings.flow import flow_of
from breakscope.static.findings.resumed import function_of
from breakscope.static.findings.seen import Seen
from breakscope.static.findings.verdicts import Way, is_open, training_test
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.regions.discovery.around import is_measured_by

# around a call: a break in what is called skips the caller too
OF_CALLERS = ("loop", "try", "with")
# until then Dynamo resumed behind a break in one
RESUMED_BEFORE = {"loop": "2.11", "comprehension": "2.11"}


def way_into(step: Step, seen: Seen, skipped: bool, resumed: set[str]) -> Way:
    """How what a step calls is entered; `resumed` are the places where this torch resumes."""
    activation, way = seen.activation, seen.way
    chain = (*way.chain, (activation, step.node))
    eager = skipped and not step.child.is_compiled_by_itself
    caller = way.skipped_caller if way.skipped_caller[0] else _cost(step, activation, resumed)
    if not activation.module.library:
        doubtful = way.doubtful or _is_rare(step, activation)
        doubtful = doubtful or is_measured_by(step.child, activation)
        apart = skipped and not eager
        condition = step.condition or way.condition
        last = seen.last_sure_break(step.condition)
        idle = way.idle if last < 0 else not activation.works_behind(last)
        return Way(
            chain,
            condition,
            doubtful,
            eager,
            caller,
            apart,
            idle,
            seen.is_repeated,
            seen.varies,
            fixed_parameters(step, seen) if seen.varies and seen.fixed else frozenset(),
        )
    doubtful = way.doubtful or _is_rare(step, activation) or is_open(step)
    return Way(chain, way.condition or training_test(step), doubtful, eager, caller)


def fixed_parameters(step: Step, seen: Seen) -> frozenset[str]:
    """The parameters of a called function that it is given by the names of those of its caller which are the same
    in all calls of the region."""
    caller, called = function_of(seen.activation), function_of(step.child)
    if caller is None or called is None or not isinstance(step.node, ast.Call):
        return frozenset()
    fixed = seen.fixed - flow_of(caller).sources.keys()
    given = _given(called, step.node)
    return frozenset(n for n, v in given.items() if isinstance(v, ast.Name) and v.id in fixed)


def as_caller_says(condition: str, step: Step) -> str | None:
    """A condition of what a step calls, with what the call hands over in the place of parameters; None where that is
    no variable or attribute, so that the caller has no words for it."""
    try:
        tree = ast.parse(condition, mode="eval")
    except SyntaxError:
        return condition
    named = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and part.id != "self"]
    called = function_of(step.child) if named else None
    if called is None or not isinstance(step.node, ast.Call):
        return condition
    given = _given(called, step.node)
    own = {parameter.arg for parameter in plain_parameters(called)}
    handed = {part.id: given.get(part.id) for part in named if part.id in own}
    if not all(value is not None and _is_dotted(value) for value in handed.values()):
        return None
    if all(ast.unparse(value) == name for name, value in handed.items()):
        return condition
    for part in named:
        part.id = ast.unparse(handed[part.id]) if part.id in handed else part.id
    return ast.unparse(tree)


def _is_dotted(value: ast.expr) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _given(called: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """What the call hands to each parameter."""
    names = [parameter.arg for parameter in positional_parameters(called)]
    positional = zip(names[names[:1] == ["self"] :], call.args)
    return {**dict(positional), **{part.arg: part.value for part in call.keywords if part.arg}}


def _cost(step: Step, activation: Activation, resumed: set[str]) -> tuple[str, str]:
    """What a break behind a call costs the function that calls: ("", "") when Dynamo resumes it
    there."""
    if (
        step.skips not in OF_CALLERS
        or step.skips in resumed
        or not activation.is_compiled_by_itself
        or not activation.function
    ):
        return "", ""
    return step.skips, activation.function


def _is_rare(step: Step, activation: Activation) -> bool:
    """True for a call that only happens where the program is debugged, or the like; one that the
    function makes on its other ways too, as around a model, is none."""
    child = step.child
    return step.rare and not any(
        other.child is not None
        and not other.rare
        and (other.child.module, other.child.line) == (child.module, child.line)
        for other in activation.steps
    )
