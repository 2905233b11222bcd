"""How the file itself says that its entry is called: `calls()` returns the argument tuples of
successive calls, `drive(call, model)` makes the calls. What differs between them, and what is set
on the model in between, makes Dynamo recompile when the region depends on it.
"""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Outside, Varies
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Activation, Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.watch import Watch
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.indices import emit_indices
from breakscope.static.regions.states import emit_states, inside
from breakscope.static.regions.uses import Uses
from breakscope.static.regions.variation import (
    aliases,
    are_alike,
    describe,
    differing,
    is_symbolic,
    note_given,
    shown_values,
    variation,
    variations,
)
from breakscope.static.variables.misc import Recorder


def add_call_events(
    machine: Machine, module: ModuleInfo, target: Value, activation: Activation
) -> None:
    """Emit what the file's `calls` or `drive` shows of the region under `activation`."""
    names = module_names(machine, module)
    driver, caller = names.get("drive"), names.get("calls")
    recorder = Recorder(target=target)
    writes: list = []
    try:
        if isinstance(driver, Function) and len(driver.info.node.args.args) == 2:
            writes = drive(machine, driver, recorder, target)
        elif isinstance(caller, Function) and not caller.info.node.args.args:
            listed = machine.inline(caller, [], {}, caller.info.node, Frame(module))
            for row in listed.items or [] if isinstance(listed, Sequence) else []:
                if isinstance(row, Sequence) and row.items is not None:
                    recorder.record(list(row.items), {}, {})
    except Raised:
        pass
    except OutOfBudget as problem:
        given = driver if isinstance(driver, Function) else caller
        machine.give_up(why(problem), given.info.node, Frame(module))
    function = _function_of(machine, target)
    if function is not None:
        add_events(machine, activation, function, recorder, writes)


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
    _emit_variation(machine, frame, function, recorder, owner or function.bound)
    emit_indices(machine, frame, rows)
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
    before = len(machine.driver.outside)
    machine.driver.function = driver.info
    machine.driver.state = {}
    recorder.start = before
    try:
        machine.inline(driver, [recorder, target], {}, driver.info.node, Frame(driver.info.module))
    finally:
        machine.driver.function = None
    writes, machine.driver.outside[before:] = machine.driver.outside[before:], []
    return writes


def _function_of(machine: Machine, target: Value) -> Function | None:
    if isinstance(target, Instance):
        target = machine.getattr(target, "forward", ast.Constant(None), Frame(machine.file.module))
    return target if isinstance(target, Function) else None


def _emit_variation(
    machine: Machine, frame: Frame, function: Function, recorder: Recorder, owner: Value | None
) -> None:
    if len(recorder.calls) < 2:
        return
    rows = [
        {**found, **bound(machine, function, args, kwargs)}
        for (args, kwargs, _), found in zip(recorder.calls, recorder.found)
    ]
    uses = Uses(function.info.node)
    for name in rows[0]:
        values = [as_read(name, row[name], uses) for row in rows if name in row]
        if name in uses.first:
            _emit_parameter(machine, frame, recorder, uses, name, uses.first[name], values)
        given = [value for value in values if not value.is_none]
        if name in uses.given and 1 < len(given) < len(values):  # where it is there, it may differ
            _emit_parameter(machine, frame, recorder, uses, name, uses.given[name], given)
    # a closure has more than the function uses
    patterns = [aliases({n: v for n, v in row.items() if n in uses.first}) for row in rows]
    if len(set(patterns)) > 1:
        name = next(pair[0] for pattern in patterns for pair in sorted(pattern))
        machine.emit(Varies, uses.first[name], frame, name=name, what="alias")
    states = [state for _, _, state in recorder.calls]
    if uses.first:
        emit_states(machine, next(iter(uses.first.values())), frame, owner, states)


def _emit_parameter(
    machine: Machine,
    frame: Frame,
    recorder: Recorder,
    uses: Uses,
    name: str,
    node: ast.Name,
    values: list[Value],
) -> None:
    """Emit what differs between the values of one parameter."""
    for path, found in differing(values):
        given = [value for value in found if not value.is_none]
        kinds = [(what, found) for what in variations(found)]
        if path and 1 < len(given) < len(found):  # an item that is there only in some calls
            kinds += [(what, given) for what in variations(given)]
        for what, parts in kinds:
            use = uses.of(name, what == "size")
            is_tested = use == "branch" and len({part == Const(0) for part in parts}) > 1
            if recorder.is_dynamic and is_symbolic(what, parts) and not is_tested:
                continue
            if what == "order":
                what = "object" * (name in uses.gone_over)
            if not what or not _is_read(machine, name, path, values[0], uses):
                continue
            shown = () if recorder.has_examples else shown_values(parts)
            part = f"{name}{path}"
            place = uses.parts.get(part, node)
            fields = {"name": part, "what": what, "values": shown, "use": use}
            machine.emit(Varies, place, frame, detail=(part, what), **fields)


def as_read(name: str, value: Value, uses: Uses) -> Value:
    """A dict of which a function only looks up some keys, as far as these: no guard is on the others."""
    if type(value) is not Dict or value.open or name in uses.whole:
        return value
    read = {key: item for key, item in value.items.items() if uses.reads_item(name, f"[{key!r}]")}
    return Dict(read, value.element)


def _is_read(machine: Machine, parameter: str, path: str, value: Value, uses: Uses) -> bool:
    """True where the region reads the part of the parameter's value that `path` names."""
    if path.startswith("["):
        return uses.reads_item(parameter, path)
    if not path.startswith(".") or not isinstance(value, Instance):
        return True
    *inner, name = path[1:].split(".")
    for part in inner:
        value = value.attributes.get(part, UNKNOWN) if isinstance(value, Instance) else UNKNOWN
    is_own = not inner and name in uses.attributes
    return is_own or (id(value), name) in machine.region.reads


def emit_writes(
    machine: Machine,
    frame: Frame,
    holder: Value | None,
    writes: list,
    marks: list[int],
    call: tuple[Activation, ast.AST] | None = None,
) -> None:
    """Attributes that the driver sets and the region reads: those that are not the same at each call;
    `marks` tells how much was set before each. Of a layer that nn.Sequential holds, `call` shows them."""
    values: dict[tuple[int, str], list] = {}
    for number, write in enumerate(writes):
        values.setdefault((id(write[0]), write[1]), []).append((number, write))
    for key, numbered in values.items():
        found = _at_calls(numbered, marks)
        layer = getattr(numbered[-1][1][0], "name", "").startswith("torch.nn.")
        read = (
            _read_of_layer(machine, holder, numbered[-1][1][0], call)
            if layer
            else _read_of(machine, key, holder, numbered[-1][1][0])
        )
        if read is None or read[0] is None or len(found) < 2:
            continue
        activation, node = read
        container, name, _, _, path, at = found[1][1]
        is_attribute = isinstance(node, ast.Attribute) and isinstance(name, str) and name != ""
        initial, value = found[0][0], found[1][0]
        what = variation([initial, value]) if type(value) is type(initial) is Tensor else ""
        if isinstance(value, Tensor) and not initial.is_none and not what:
            continue
        if not _reads_what_differs(machine, initial, value):
            continue
        activation.seen = set(activation.seen)  # its call is over
        inside = Frame(
            activation.module, frame.function, None, activation, True, 0, activation.function
        )
        machine.emit(
            Outside,
            node,
            inside,
            owner=machine.text(node if layer else node.value, activation.module)
            if is_attribute
            else "",
            name=name
            if isinstance(name, str) and name
            else _item_name(machine, container, node, activation),
            value=value,
            initial=initial,
            path=path,
            line=getattr(at, "lineno", 0),
            what=what,
        )


def _at_calls(numbered: list, marks: list[int]) -> list[tuple[Value, tuple]]:
    """The different values at the calls, in their order, each with the write that it goes back to."""
    found: dict[object, tuple[Value, tuple]] = {}
    for mark in marks:
        before = [write for number, write in numbered if number < mark]
        value = before[-1][2] if before else numbered[0][1][3]
        found.setdefault(_told_apart(value), (value, before[-1] if before else numbered[0][1]))
    return list(found.values())


def _read_of(machine: Machine, key: tuple, holder: Value | None, container: object) -> tuple | None:
    """Where the region reads an attribute, or an item, be it with the whole container, or a container
    under the name that its object has for it."""
    reads = machine.region.reads
    if key in reads or (isinstance(key[1], str) and key[1]):
        return reads.get(key)
    if (id(container), "") in reads:
        return reads[id(container), ""]
    if isinstance(container, Sequence) and key[1] == "":
        items = (
            at for (owner, name), at in reads.items() if owner == key[0] and name[:1] == ("item",)
        )
        if (at := next(items, None)) is not None:
            return at  # the length of a list is guarded wherever an item is read
    held = holder.attributes if isinstance(holder, Instance) else {}
    name = next((name for name, value in held.items() if value.original is container), None)
    return reads.get((id(holder), name))


def _reads_what_differs(machine: Machine, before: Value, after: Value) -> bool:
    """False for another dict, or object of one class, of which the region reads only what is the same in
    both."""
    if are_alike([before, after]):
        return any(
            (id(before), path[1:]) in machine.region.reads and variation(parts)
            for path, parts in differing([before, after], 0)
        )
    if type(before) is not Dict or type(after) is not Dict:
        return True
    read = [
        name[1]
        for owner, name in machine.region.reads
        if owner == id(before) and type(name) is tuple and name[0] == "item"
    ]
    return not read or any(
        describe(before.items.get(key, UNKNOWN)) != describe(after.items.get(key, UNKNOWN))
        for key in read
    )


def _read_of_layer(
    machine: Machine, holder: Value | None, layer: Value, call: tuple | None
) -> tuple | None:
    """Where the region reads a layer of torch's that its module holds, be it in other modules; what the layer
    reads of itself is not seen."""
    waiting, seen = [holder], set()
    while waiting:
        owner = waiting.pop()
        if not isinstance(owner, Instance) or id(owner) in seen:
            continue
        seen.add(id(owner))
        for name, value in owner.attributes.items():
            if _holds(value.original, layer, limits.DEEPEST_MODULE_WALK):
                return machine.region.reads.get((id(owner), name))
            waiting.append(value.original)
    is_held = holder is not None and _holds(holder, layer, limits.DEEPEST_MODULE_WALK)
    return call if is_held else None


def _holds(value: Value, layer: Value, depth: int) -> bool:
    """True for the layer, and for a container with it."""
    if value is layer:
        return True
    is_container = isinstance(value, Sequence | Dict) and depth > 0
    return is_container and any(_holds(part.original, layer, depth - 1) for part in inside(value))


def _item_name(machine: Machine, container: object, node: ast.AST, activation: Activation) -> str:
    """What to call an item, or a whole container, that the region reads."""
    if isinstance(node, ast.Subscript):
        return machine.text(node, activation.module)
    return getattr(container, "home", "").removeprefix("global ")


def _told_apart(value: Value, depth: int = limits.DEEPEST_KEY) -> object:
    """What guards see of a value that a driver sets: of a layer also its sizes. A dict may hold itself."""
    if type(value) is Scalar or (type(value) is Py and value.is_drawn):
        return id(value)  # each one is another number, which nothing says
    if isinstance(value, ExternalInstance):
        return (value.name, *(a.value for a in value.args if isinstance(a, Const)))
    if type(value) is Dict and not value.open and depth:
        return tuple((str(key), _told_apart(item, depth - 1)) for key, item in value.items.items())
    if type(value) is Function:
        return id(value.info), describe(value)
    if type(value) is Instance and depth:
        parts = value.attributes.items()
        return value.describe(), *((name, _told_apart(part, depth - 1)) for name, part in parts)
    if type(value) is Sequence and value.items is not None and all(v.is_const for v in value.items):
        return describe(value), *map(describe, value.items)
    return describe(value)


def bound(
    machine: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    """The parameters of one call, defaults included."""
    own = [function.bound] if function.bound is not None else []
    names = bind_arguments(machine, function.info, [*own, *args], kwargs, function.scope)
    if own and function.info.node.args.args:
        names.pop(function.info.node.args.args[0].arg, None)
    return names
