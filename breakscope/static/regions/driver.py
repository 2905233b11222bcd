"""How the file itself says that its entry is called: `calls()` returns, or yields, the argument
tuples of successive calls, `drive(call, model)` makes the calls. What differs between them, and what is set
on the model in between, makes Dynamo recompile when the region depends on it.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from breakscope.knowledge import since
from breakscope.rulekit.events import Mutate, Varies
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    Function,
    Instance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.driver import DrivenCall, without_sizes
from breakscope.static.machine.frames import Activation, Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.kept import Contents, as_filled, as_held, counterparts, held_by
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.watch import Watch
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.identity import emit_identity
from breakscope.static.regions.indices import emit_indices
from breakscope.static.regions.kept import emit_kept
from breakscope.static.regions.states import emit_states
from breakscope.static.regions.symbols import note_varying
from breakscope.static.regions.uses.executed import executed_part
from breakscope.static.regions.uses.loops import looped_dimensions
from breakscope.static.regions.uses.numbers import NumberUses
from breakscope.static.regions.uses.parameters import Uses
from breakscope.static.regions.uses.returned import Returned
from breakscope.static.regions.variation import (
    KINDS,
    aliases,
    changed_sizes,
    differing,
    is_symbolic,
    note_given,
    shown_values,
    size_differs,
    variations,
)
from breakscope.static.regions.writes import emit_writes
from breakscope.static.variables.misc import Recorder

LAZY = "2.13"  # from which version on a number that is only given back has no guard
CALLED = ("forward", "__call__")  # the methods that run when an object is called


class Found(NamedTuple):
    """How a function uses its parameters, and which are given tensors of several sizes."""

    node: ast.AST
    uses: Uses
    numbers: NumberUses
    sized: list[str]
    returned: Returned


def add_call_events(
    machine: Machine,
    module: ModuleInfo,
    target: Value,
    activation: Activation,
    args: list[Value],
    kwargs: dict[str, Value],
    contents: Contents,
) -> None:
    """Emit what the file's `calls` or `drive` shows of the region under `activation`; without them it is called
    again as it was entered, with `contents` in what its objects hold."""
    names = module_names(machine, module)
    driver, caller = names.get("drive"), names.get("calls")
    recorder = Recorder(target=target)
    writes, kept = [], []
    given = driver if isinstance(driver, Function) else caller
    try:
        if isinstance(driver, Function) and len(driver.info.node.args.args) == 2:
            writes = drive(machine, driver, recorder, target)
        elif isinstance(caller, Function) and not caller.info.node.args.args:
            with as_filled(contents):
                kept = _follow_calls(machine, caller, recorder)
        elif given is None and (given := _function_of(machine, target)) is not None:
            names = machine.file.compiled_names()
            with machine.driver.following(given.info, names), as_filled(contents):
                kept = _call_in_turn(machine, target, [(args, kwargs)] * 2, given.info.node)
    except Raised:
        pass
    except OutOfBudget as problem:
        machine.give_up(why(problem), given.info.node, Frame(module))
    function = _function_of(machine, target)
    if function is not None:
        if recorder.calls:
            recorder.places = counterparts(args, recorder.calls[0][0])
        add_events(machine, activation, function, recorder, writes)
        if len(kept) > 1:
            emit_kept(machine, kept, writes, args)


def add_events(
    machine: Machine,
    activation: Activation,
    function: Function,
    recorder: Recorder,
    writes: list,
    owner: Value | None = None,
) -> None:
    """Emit in the region that was entered under `activation` what differs between the recorded calls, and
    what is set in between."""
    entered = next((step.child for step in activation.steps if step.child is not None), None)
    if entered is None:
        return
    entered.seen = set()
    frame = Frame(entered.module, function.info, None, entered, True, 0, entered.function)
    if begins_idle(machine, function, recorder.done):
        _emit_idle(machine, frame, function, recorder.done)
        return
    entered.is_repeated = len(recorder.calls) > 1
    rows = [bound(machine, function, args, kwargs) for args, kwargs, _ in recorder.calls]
    note_given(machine.driver, entered, rows)
    given = rows[0] if rows else ()
    held = ([row[name] for row in rows if name in row] for name in given)
    note_varying(entered, recorder.is_dynamic or any(map(size_differs, held)))
    _emit_variation(machine, frame, function, recorder, owner or function.bound)
    emit_indices(machine, frame, rows)
    emit_identity(machine, frame, function, rows)
    emit_writes(machine, frame, function.bound, writes, recorder.marks)


def begins_idle(machine: Machine, function: Function, done: list[Watch]) -> bool:
    """True where the first call surely has no operation: Dynamo skips the function from then on, unless
    one graph is asked for."""
    first = done[0] if done else None
    if first is None or first.statements == 0 or first.works:
        return False
    whole = machine.file.whole
    decorators = getattr(function.info.node, "decorator_list", ())
    named = {part.arg for node in decorators for part in walk(node) if type(part) is ast.keyword}
    return "fullgraph" not in named and not {id(function.original), id(function.bound)} & whole


def _emit_idle(machine: Machine, frame: Frame, function: Function, done: list[Watch]) -> None:
    """Emit where the first call leaves the function, when a later one has an operation."""
    node = function.info.node
    if type(node) is ast.Lambda or not any(call.works and call.statements for call in done):
        return
    left = done[0].left_at
    place = left if any(part is left for part in walk(node)) else node.body[-1]
    machine.emit(Varies, place, frame, name=function.info.name, what="idle")


def drive(machine: Machine, driver: Function, recorder: Recorder, target: Value) -> list:
    """Run a driver; returns the attributes that it sets on objects that were there before."""
    recorder.start = len(machine.driver.outside)
    return _followed(machine, driver, [recorder, target])[1]


def _follow_calls(machine: Machine, caller: Function, recorder: Recorder) -> list[DrivenCall]:
    """Record the calls that a file's `calls` lists; returns them with what each finds on the objects."""
    target, plain = recorder.target, dict(machine.driver.plain)
    frame = Frame(caller.info.module)
    with machine.driver.following(caller.info, machine.file.compiled_names()):
        listed = machine.inline(caller, [], {}, caller.info.node, frame)
        rows = listed.items or [] if isinstance(listed, Sequence) else []
        given = [list(row.items) for row in rows if getattr(row, "items", None) is not None]
        machine.driver.plain = plain  # a comprehension may have made them of other numbers
        rows = [(args, {}) for args in given]
        made = _call_in_turn(machine, target, rows, caller.info.node, recorder)
        for args in given[len(recorder.calls) :]:  # where one raised an exception
            recorder.record([_with_closure(machine, value) for value in args], {}, {})
        has_examples = machine.driver.examples > 0
    return [call._replace(has_examples=has_examples) for call in made]


def _with_closure(machine: Machine, value: Value) -> Value:
    """A function with what its closure holds, which guards see."""
    return machine.driver.as_marked(value) if type(value) is Function else value


def _call_in_turn(
    machine: Machine,
    target: Value,
    rows: list[tuple[list, dict]],
    node: ast.AST,
    recorder: Recorder | None = None,
) -> list[DrivenCall]:
    """The calls, each with what it finds on the objects that it is of, or is given; recorded with what the containers
    hold then, which earlier ones may have changed."""
    made = []
    values = [value for args, kwargs in rows for value in (*args, *kwargs.values())]
    with as_held(held_by((target, *values))):
        for args, kwargs in rows:
            held = held_by((target, *args, *kwargs.values()))
            made.append(DrivenCall(target, args, kwargs, {}, {}, 0, held=held))
            if recorder is not None:
                recorder.record([_with_closure(machine, value) for value in args], kwargs, {})
            machine.driver.inside = True
            try:
                machine.call(target, args, kwargs, node, Frame(machine.file.module))
            except Raised:
                break
            finally:
                machine.driver.inside = False
    return made


def _followed(machine: Machine, function: Function, args: list[Value]) -> tuple[Value, list]:
    """What a function around the region returns, or yields, its loops followed turn by turn; and the
    attributes that it sets."""
    before = len(machine.driver.outside)
    machine.driver.function = function.info
    machine.driver.state = {}
    frame = Frame(function.info.module)
    try:
        result = machine.inline(function, args, {}, function.info.node, frame)
    finally:
        machine.driver.function = None
    writes, machine.driver.outside[before:] = machine.driver.outside[before:], []
    return result, writes


def _function_of(machine: Machine, target: Value) -> Function | None:
    if not isinstance(target, Instance):
        return target if isinstance(target, Function) else None
    frame = Frame(machine.file.module)
    found = (machine.getattr(target, name, ast.Constant(None), frame) for name in CALLED)
    return next((method for method in found if isinstance(method, Function)), None)


def _emit_variation(
    machine: Machine, frame: Frame, function: Function, recorder: Recorder, owner: Value | None
) -> None:
    if len(recorder.calls) < 2:
        return
    rows = [
        {**held, **bound(machine, function, args, kwargs)}
        for (args, kwargs, _), held in zip(recorder.calls, recorder.found)
    ]
    node = executed_part(function.info.node, recorder.done)
    uses = Uses(node)
    found = Found(
        node,
        uses,
        NumberUses(node, _names_of(function, rows[0])),
        [name for name in rows[0] if size_differs([row[name] for row in rows if name in row])],
        Returned(node, frozenset(n for n, value in rows[0].items() if type(value) is Tensor)),
    )
    for name in rows[0]:
        values = [as_read(name, row[name], uses) for row in rows if name in row]
        values = _as_symbols(machine, values)
        if name in uses.first:
            _emit_parameter(machine, frame, recorder, found, name, uses.first[name], values)
        given = [value for value in values if not value.is_none]
        if name in uses.given and 1 < len(given) < len(values):  # where it is there, it may differ
            _emit_parameter(machine, frame, recorder, found, name, uses.given[name], given)
    # a closure has more than the function uses
    for patterns in aliases([{n: v for n, v in row.items() if n in uses.first} for row in rows]):
        if len(patterns) > 1:
            name = next(pair[0] for pattern in patterns for pair in sorted(pattern))
            machine.emit(Varies, uses.first[name], frame, name=name, what="alias")
    states = [state for _, _, state in recorder.calls]
    if uses.first:
        emit_states(machine, next(iter(uses.first.values())), frame, owner, states)


def _emit_parameter(
    machine: Machine,
    frame: Frame,
    recorder: Recorder,
    found: Found,
    name: str,
    node: ast.Name,
    values: list[Value],
) -> None:
    """Emit what differs between the values of one parameter."""
    uses = found.uses
    for path, held in differing(values):
        given = [value for value in held if not value.is_none]
        kinds = [(what, held) for what in variations(held)]
        if path and 1 < len(given) < len(held):  # an item that is there only in some calls
            kinds += [(what, given) for what in variations(given)]
        for what, parts in kinds:
            ranks = {part.ndim for part in parts if type(part) is Tensor}
            use = uses.of(name, what == "size", by_rank=len(ranks) > 1)
            if what == "size" and use == "other" and _is_constant(frame, found, name, path, parts):
                use = "constant"
            is_tested = use == "branch" and len({part == Const(0) for part in parts}) > 1
            is_constant = is_tested or use == "constant"
            if recorder.is_dynamic and is_symbolic(what, parts) and not is_constant:
                if use != "branch" or not _goes_other_ways(recorder):
                    continue
            if what == "order":
                what = "object" * (name in uses.gone_over)
            if not what or not _is_read(machine, recorder, name, path, values[0], uses):
                continue
            if what in KINDS and since(LAZY) and found.returned.is_untouched(name, path):
                continue
            shown = () if recorder.has_examples else shown_values(parts)
            part = f"{name}{path}"
            place = uses.parts.get(part, node)
            fields = {"name": part, "what": what, "values": shown, "use": use}
            if what in ("int", "float"):
                fields["use"] = found.numbers.of(part)
            elif what == "size":
                fields |= {"changed": changed_sizes(parts), "alone": found.sized == [name]}
            machine.emit(Varies, place, frame, detail=(part, what), **fields)


def _as_symbols(machine: Machine, values: list[Value]) -> list[Value]:
    """Tensors without the sizes that were marked as dynamic in the first call: these are symbols for all others."""
    _, dimensions = machine.driver.marked.get(id(values[0]), (None, frozenset()))
    if dimensions == frozenset() or not all(type(value) is Tensor for value in values):
        return values
    return [without_sizes(value, dimensions) for value in values]


def _goes_other_ways(recorder: Recorder) -> bool:
    """True where some calls ran other statements than the first one."""
    return len({frozenset(call.ran) for call in recorder.done}) > 1


def _is_constant(frame: Frame, found: Found, name: str, path: str, values: list[Value]) -> bool:
    """True where Dynamo makes a constant of a dimension with several sizes: a loop goes over it, or it is a key."""
    ndim = max((len(v.shape or ()) for v in values if type(v) is Tensor), default=0)
    changed = {dimension for dimension, _ in changed_sizes(values)}
    looped = () if path else looped_dimensions(found.node, name)
    if any(d in changed or d + ndim in changed for d in looped):
        return True
    return len(changed) == 1 and found.sized == [name] and _has_size_for_key(frame.activation)


def _has_size_for_key(activation: Activation, depth: int = 3) -> bool:
    """True where a dict gains a size as a key, here or in what is called."""
    return any(
        (type(step.event) is Mutate and step.event.key.is_shape)
        or (step.child is not None and depth > 0 and _has_size_for_key(step.child, depth - 1))
        for step in activation.steps
    )


def _names_of(function: Function, row: dict[str, Value]) -> dict[str, Value]:
    """What a function has for its parameters, the object that it is bound to among them."""
    own = [function.bound] if function.bound is not None else []
    return {**{part.arg: value for part, value in zip(function.info.node.args.args, own)}, **row}


def as_read(name: str, value: Value, uses: Uses) -> Value:
    """A dict of which a function only looks up some keys, as far as these: no guard is on the others."""
    if type(value) is not Dict or value.open or name in uses.whole | uses.counted:
        return value
    read = {key: item for key, item in value.items.items() if uses.reads_item(name, f"[{key!r}]")}
    return Dict(read, value.element)


def _is_read(
    machine: Machine, recorder: Recorder, parameter: str, path: str, value: Value, uses: Uses
) -> bool:
    """True where the region reads the part of the parameter's value that `path` names, as it was given."""
    if path.startswith("["):
        return uses.reads_item(parameter, path)
    if not path.startswith(".") or not isinstance(value, Instance):
        return True
    *inner, name = path[1:].split(".")
    for part in inner:
        value = value.attributes.get(part, UNKNOWN) if isinstance(value, Instance) else UNKNOWN
    held = value.attributes.get(name) if isinstance(value, Instance) else None
    if any(id(held) == container for _, _, container in machine.region.grown):
        return False  # it holds what the region put there, which is said there
    is_own = not inner and name in uses.attributes
    return is_own or (recorder.places.get(id(value), id(value)), name) in machine.region.reads


def bound(
    machine: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    """The parameters of one call, defaults included."""
    own = [function.bound] if function.bound is not None else []
    names = bind_arguments(machine, function.info, [*own, *args], kwargs, function.scope)
    if own and function.info.node.args.args:
        names.pop(function.info.node.args.args[0].arg, None)
    return names
