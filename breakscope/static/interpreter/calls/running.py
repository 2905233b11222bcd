"""Runs the body of a called function, or takes what an equal call gave before."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Constructor
from breakscope.rulekit.values import NONE, UNKNOWN, Function, Instance, Sequence, Union, Value
from breakscope.rulekit.walking import begin_of, positional_parameters, walk
from breakscope.static.definitions.annotated_results import completed
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.classes import is_module
from breakscope.static.interpreter.blocks import exec_apart, exec_block
from breakscope.static.interpreter.calls.summaries import (
    Group,
    Known,
    Outcome,
    effect_kind_of,
    kind_of,
    opened,
    snapshot,
)
from breakscope.static.interpreter.calls.templates import filled_in
from breakscope.static.interpreter.eager_frames import is_function_compiled_apart
from breakscope.static.machine.frames import GO_ON, RAISE, Activation, Frame, OutOfBudget, Raised
from breakscope.static.machine.given import both, taken
from breakscope.static.machine.lattice import join_all
from breakscope.static.project.generators import is_generator
from breakscope.static.project.modules import FunctionInfo


def followed_call(
    machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
    emits: bool,
) -> Outcome | None:
    """What the call gives, from its summaries when one more analysis would show nothing new; None for
    a recursion, whose first call's result is not known yet."""
    info = function.info
    driver = machine.driver
    if emits:
        mode = (emits, frame.certainty, frame.caught, frame.within)
    else:  # calls of what is compiled may differ in what is global while they run
        mode = (False, *sorted(driver.state.items())) if driver.calls is not None else (False,)
    remembered = machine.summaries.remembered.get(id(info))
    if remembered is None:
        remembered = machine.summaries.remembered[id(info)] = {}
    key = _call_key(function, mode, args, kwargs)
    # what code around a region does to its objects, it does each time
    is_own = info.module is machine.file.module and not machine.budget.is_scarce
    afresh = not emits and driver.notes and is_own
    outcome = None if afresh else remembered.get(key)
    most = limits.MOST_KNOWN_RUNS if afresh else limits.MOST_VARIANTS
    if outcome is None and (variants := remembered.get(key[:3], 0)) >= most:
        args, kwargs = [opened(a) for a in args], {k: opened(v) for k, v in kwargs.items()}
        key = _call_key(function, mode, args, kwargs)
        outcome = None if afresh else remembered.get(key)
    if outcome is not None:
        return outcome
    names = bind_arguments(machine, info, args, kwargs, function.scope)
    everything = remembered.get(mode)
    if everything is None:
        everything = remembered[mode] = Known()
    arguments = given_arguments(info, names)
    for_effect = not emits and is_for_effect(machine, function, args, node)
    if for_effect:
        kind = effect_kind_of(machine, info, arguments)
    else:
        kind = kind_of(info, mode, names, filled_in(machine, function) if emits else ())
    group = remembered.get(kind)
    is_enough = info.module.library and everything.count >= limits.MOST_ANALYSES_ELSEWHERE
    if group is None:
        nearest = None if for_effect or afresh else everything.nearest(kind, is_enough)
        if nearest is not None and (outcome := nearest.repeat(machine, arguments)) is not None:
            return outcome
        group = remembered[kind] = Group()
    elif (
        not afresh
        and group.last is not None  # else this call is inside of the first of its kind
        and (is_enough or group.is_settled(for_effect))
        and (outcome := group.repeat(machine, arguments)) is not None
    ):
        return outcome
    running = machine.region.running.setdefault(id(info), [])
    is_shared = not emits and driver.sets and not is_own
    if is_known_recursion(machine, info, key, running, is_shared):
        return None
    running.append(key)
    before, written = snapshot(arguments), len(driver.outside)
    try:
        outcome = run_function(machine, function, args, names, node, frame, emits)
    finally:
        running.pop()
    if outcome.activation is not None:
        outcome.activation.seen = frozenset()
    if outcome.value is UNKNOWN or type(outcome.value) is Union or type(outcome.value) is Sequence:
        outcome.value = completed(machine, function, arguments, outcome.value)
    # where it leaves to Python what sets something, the next call may find another value
    if driver.inside and len(driver.outside) > written:
        return outcome
    group.add(outcome, arguments, before)
    everything.add(kind, group)
    remembered[key] = outcome
    share = limits.MADE_FUNCTIONS_OF_A_VARIANT if makes_function(info, outcome.value) else 1
    remembered[key[:3]] = variants + 1 / share
    machine.objects.kept.extend((function, *names.values()))
    return outcome


def makes_function(info: FunctionInfo, value: Value) -> bool:
    """True where a call of the function gave one that is defined inside of it."""
    return type(value) is Function and value.scope is not None and value.scope.function is info


def is_known_recursion(
    machine, info: FunctionInfo, key: tuple, running: list[tuple], is_shared: bool
) -> bool:
    """True where one more analysis of a function inside its own shows nothing new; else it is counted.
    `is_shared`: all calls of the function have one count, as a library's around a region multiply."""
    inside = machine.region.inside
    if not running:
        inside[id(info)] = inside.get(id(info), 0) if is_shared else 0
        return False
    if (
        key in running
        or len(running) > limits.MOST_NESTED
        or inside[id(info)] >= limits.MOST_INSIDE_ITSELF
    ):
        return True
    inside[id(info)] += 1
    return False


def is_for_effect(machine, function: Function, args: list[Value], node: ast.AST) -> bool:
    """True for an inherited constructor from another file, and for other such methods whose
    value is thrown away."""
    info, owner = function.info, args[0] if args else None
    return (
        type(owner) is Instance
        and info.module is not owner.cls.info.module
        and (info.name == "__init__" or node is machine.region.for_effect)
    )


def run_function(
    machine,
    function: Function,
    args: list[Value],
    names: dict[str, Value],
    call: ast.AST,
    caller: Frame,
    emits: bool,
) -> Outcome:
    """Analyse a call, which stands at `call`; `names` are the parameters' values."""
    info: FunctionInfo = function.info
    info.node.entered = machine.world.program.sources.turn
    activation = None
    if emits:
        activation = Activation(info.qualname, info.module, info.node.lineno, info.node)
    frame = Frame(
        info.module, info, function.scope, activation, emits, caller.depth + 1, info.qualname
    )
    if emits:
        frame.began = machine.objects.made_count
        # what is handed to torch.compile is compiled whatever it shows
        activation.is_compiled_by_itself = frame.depth == 1 or is_function_compiled_apart(
            machine, function, names
        )
        activation.is_for_gradient = caller.within == "backward"
        activation.runs_later = is_generator(info) and "contextmanager" not in info.marks
        frame.certainty = caller.certainty
        frame.always = frame.depth == 1 or (caller.always and not caller.is_in_branch())
        for value in names.values():
            activation.note_named(value)
        if (
            info.owner is not None
            and args
            and type(args[0]) is Instance
            and caller.certainty == "certain"
            and not any([a.is_unknown for a in args])
        ):
            note_reached(machine, (id(args[0].cls.info), id(info)), names)
        if info.name == "__init__":
            note_constructor(machine, function, frame)
    else:
        here = taken(machine, caller.branch, caller.module) if caller.branch is not None else ""
        frame.called_if = both(caller.called_if, here)
    frame.caught = caller.caught
    frame.within = frame.begun_within = caller.within
    frame.names = names
    frame.bound = args[0] if args and function.bound is not None else None
    node, is_entry = info.node, emits and frame.depth == 1
    try:
        if isinstance(node, ast.Lambda):
            return Outcome(machine.eval(node.body, frame), activation)
        status = (exec_apart if is_entry else exec_block)(machine, node.body, frame)
    except Raised as problem:
        if not frame.returns:
            return Outcome(UNKNOWN, activation, problem.value)
        status = RAISE
    except OutOfBudget:
        if activation is not None:  # what was seen until here stays
            caller.note_call(activation, call)
        raise
    if is_generator(info):
        items = frame.yields if machine.driver.follows_turns(frame) else None
        return Outcome(Sequence("generator", items, join_all(frame.yields)), activation)
    returns = [*frame.returns, NONE] if status == GO_ON else frame.returns
    return Outcome(join_all(returns), activation)


def note_constructor(machine, function: Function, frame: Frame) -> None:
    """Emit where the `__init__` of a module first uses the object."""
    if type(function.bound) is Instance and is_module(machine, function.bound):
        owner = next((p.arg for p in positional_parameters(function.info.node)), "")
        named = [
            part
            for statement in function.info.node.body
            for part in walk(statement)
            if isinstance(part, ast.Name) and part.id in (owner, "super")
        ]
        if named:
            machine.emit(Constructor, min(named, key=begin_of), frame)


def note_reached(machine, entered: tuple[int, int], names: dict[str, Value]) -> None:
    """Note that a region enters a method with known arguments, which of them were None each time,
    and what the others were the last time."""
    absent = frozenset([name for name, value in names.items() if value.is_none])
    before = machine.summaries.reached.get(entered)
    given = {name: value for name, value in names.items() if name not in absent}
    if before is not None:
        absent, given = before[0] & absent, {**before[1], **given}
    machine.summaries.reached[entered] = absent, given


def _call_key(
    function: Function, mode: tuple, args: list[Value], kwargs: dict[str, Value]
) -> tuple:
    depth = limits.DEEPEST_KEY
    return (
        id(function.info),
        id(function.scope),
        mode,
        tuple([value.key(depth) for value in args]),
        tuple([(name, value.key(depth)) for name, value in kwargs.items()]) if kwargs else (),
    )


def given_arguments(info: FunctionInfo, names: dict[str, Value]) -> dict[str, Value]:
    """What the parameters hold, with the contents of `*args` and `**kwargs`, which are made anew
    for each call, instead of these."""
    spec = info.node.args
    if not spec.vararg and not spec.kwarg:
        return dict(names)
    arguments = dict(names)
    rest = arguments.pop(spec.kwarg.arg) if spec.kwarg else None
    more = arguments.pop(spec.vararg.arg) if spec.vararg else None
    if more is not None and more.items:
        arguments.update({f"*{i}": value for i, value in enumerate(more.items)})
    if rest is not None:
        arguments.update({f"**{name}": value for name, value in rest.items.items()})
    return arguments
