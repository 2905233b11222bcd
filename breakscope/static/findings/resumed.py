"""What a break hands on to the code behind it: a number, or a tensor of a size, that is another in each call makes
Dynamo compile that code again."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Call, Event, ScalarRead
from breakscope.rulekit.resumed import Resumed
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, External, Function, Sequence, Value
from breakscope.rulekit.walking import end_of
from breakscope.static.findings.flow import RANDOM, flow_of, names_of_values
from breakscope.static.findings.left_to_python import drawn_in, read_in
from breakscope.static.machine.frames import Activation
from breakscope.static.variables.effects.kept_iterators import KEPT
from breakscope.static.variables.library.followed.draws import CLOCKS, DRAWS
from breakscope.static.variables.numpy import size_drawn

BY_VALUES = "GB0036"  # an operator whose result is as long as the values make it
NEXT = Const("next")
NUMBERS = frozenset({"item", "int", "float", "round", "tolist"})
CHOSEN = frozenset(f"random.{name}" for name in ("choice", "choices", "sample"))
DRAWN = frozenset((*(f"random.{name}" for name in DRAWS), *(f"time.{name}" for name in CLOCKS)))
OF_NUMPY_AS_PYTHON = frozenset(
    """
    random random_sample uniform normal randint beta binomial poisson exponential gamma standard_normal laplace triangular
    lognormal geometric
    """.split()
)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def resumed(
    event: Event, rule: Rule, activation: Activation, varies: bool, fixed: frozenset[str]
) -> Resumed | None:
    """The event of the code behind a break that hands on what differs between calls, which are given other values
    where these vary, but for the parameters that are `fixed`; None where it hands on nothing of the kind, or the code does
    not look at it."""
    what = _drawn(event) or _handed_on(event, rule)
    function = function_of(activation) if what else None
    if function is None:
        return None
    flow = flow_of(function)
    fixed = fixed if varies else frozenset(flow.parameters)
    if not (_drawn(event) or flow.comes_of_parameters(event.node, fixed, drawn_by(activation))):
        return None
    flow = flow.as_far_as(_left_at(event, activation))
    if not flow.is_used(event.node, 2) and not flow.is_gathered_before(
        event.node, activation.worked[1]
    ):
        return None
    return _resumed(event, what)


def _left_at(event: Event, activation: Activation) -> tuple[int, int] | None:
    """The end of the next number that is read behind the event, where nothing is computed any more behind that: what
    follows is no code that Dynamo compiles."""
    behind = False
    for index, step in enumerate(activation.steps):
        if type(step.event) is ScalarRead and behind and not step.event.undecided:
            return None if activation.works_behind(index) else end_of(step.event.node)
        behind = behind or step.event is event
    return None


def held_number(
    event: Event, rule: Rule, activation: Activation, behind: ast.AST, fixed: frozenset[str]
) -> Resumed | None:
    """The event of the code between a break that hands on a number and a later one, at `behind`, which has to hand
    it on again; None where it is no number, or nobody has it there any more. A list that has a name is handed on as it is."""
    function = function_of(activation) if _handed_on(event, rule) == "number" else None
    if function is None:
        return None
    flow = flow_of(function)
    is_list = getattr(event, "how", "") == "tolist" and not flow.is_unpacked(event.node)
    if is_list and not flow.is_one_statement(event.node, behind):
        return None
    is_held = flow.comes_of_parameters(event.node, fixed) and flow.is_held_at(event.node, behind)
    return _resumed(event, "number") if is_held else None


def is_returned(
    event: Event, rule: Rule, activation: Activation, varies: bool, fixed: frozenset[str]
) -> bool:
    """True for what a break hands on that its function gives back: the code behind the call of the function has it."""
    function = function_of(activation) if _drawn(event) or _handed_on(event, rule) else None
    if function is None:
        return False
    flow = flow_of(function)
    fixed = fixed if varies else frozenset(flow.parameters)
    comes_of = _drawn(event) or flow.comes_of_parameters(event.node, fixed, drawn_by(activation))
    return bool(comes_of) and flow.is_returned(event.node)


def gives_back(caller: Activation, call: ast.AST) -> bool:
    """True for a function that returns what a call gives."""
    function = function_of(caller)
    return function is not None and flow_of(function).is_returned(call)


def resumed_in_caller(
    event: Event, rule: Rule, caller: Activation, call: ast.AST
) -> Resumed | None:
    """The event of the code behind a call that gives back what a break in it handed on; None where that does not
    look at it."""
    function = function_of(caller)
    if function is None or not flow_of(function).is_used(call, 2):
        return None
    return _resumed(event, _drawn(event) or _handed_on(event, rule))


def _drawn(event: Event) -> str:
    """What Python draws there: a number, or one of several numbers, texts and functions, which guards tell apart."""
    if type(event) is not Call:
        return ""
    if what := drawn_in(event):
        return what
    if event.name == KEPT:
        return "number" if event.args[0] == NEXT and _holds_numbers(event.receiver) else ""
    source = event.args[0] if event.args and event.name in CHOSEN else None
    items = source.items if isinstance(source, Sequence) else None
    if items and all(isinstance(item, Const | External | Function) for item in items):
        return "choice" if len(set(map(id, items))) > 1 else ""
    return "number" if event.name in DRAWN or _is_drawn_by_numpy(event) else ""


def _holds_numbers(kept: Value | None) -> bool:
    """True for an iterator over several numbers of Python's, or tuples of these: the next one is another."""
    items = kept.items if type(kept) is Sequence else None
    rows = [item.items or () if type(item) is Sequence else (item,) for item in items or ()]
    numbers = {tuple(getattr(part, "value", None) for part in row) for row in rows}
    return len(numbers) > 1 and all(type(n) in (int, float) for row in numbers for n in row)


def _is_drawn_by_numpy(event: Call) -> bool:
    """True for a single number of Python's; what `integers` gives is numpy's, which Dynamo takes for a tensor."""
    last = event.name.rpartition(".")[2]
    is_number = event.name.startswith("numpy.random.") and last in OF_NUMPY_AS_PYTHON
    return is_number and size_drawn(last, [*event.args], event.kwargs) is None


def _resumed(event: Event, what: str) -> Resumed:
    return Resumed(
        node=event.node,
        source=event.source,
        function=event.function,
        certainty="likely" if what == "size" else event.certainty,
        at_most=event.at_most,
        what=what,
    )


def _handed_on(event: Event, rule: Rule) -> str:
    if type(event) is ScalarRead:
        is_number = event.how in NUMBERS and getattr(event.value, "dtype", None) != "bool"
        return "number" if is_number else ""
    if type(event) is Call and (what := read_in(event)):
        return what
    by_values = any(text.startswith(BY_VALUES) for text in (*rule.dynamo, *rule.shares))
    has_least = "minlength" in getattr(event, "kwargs", ())  # and mostly is as long as that
    return "size" if by_values and not has_least and not getattr(event, "store", "") else ""


def function_of(activation: Activation) -> ast.FunctionDef | None:
    """The function that an activation is of."""
    return activation.node if isinstance(activation.node, FUNCTIONS) else None


def drawn_by(activation: Activation) -> set[int]:
    """By `id`: the calls in an activation of functions that draw random numbers, be it in others."""
    return {id(step.node) for step in activation.steps if step.child and _draws(step.child, set())}


def _draws(activation: Activation, seen: set[int]) -> bool:
    function = None if id(activation) in seen else function_of(activation)
    if function is None:
        return False
    seen.add(id(activation))
    return RANDOM in names_of_values(function) or any(
        step.child is not None and _draws(step.child, seen) for step in activation.steps
    )
