"""How the checked file's own code calls what it compiles: what differs between the calls of one
program, and what is set in between, makes Dynamo recompile as a driver's calls do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    Const,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Value,
)
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.machine.driver import DrivenCall, as_it_is
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.kept import as_held
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import as_any_argument, as_argument, as_made_before
from breakscope.static.regions.driver import add_events, bound
from breakscope.static.regions.given_anew import settle_given_anew
from breakscope.static.regions.inner_calls import apart_regions
from breakscope.static.regions.kept import emit_kept
from breakscope.static.regions.late_hooks import emit_late_hooks
from breakscope.static.regions.module_calls import emit_module_calls, of_modules
from breakscope.static.regions.region import Region
from breakscope.static.regions.states import inside, parts_of
from breakscope.static.regions.writes import emit_writes
from breakscope.static.variables.misc import Recorder

# what each module is where nothing was set
PLAIN_SETTINGS = {"training": "train", "requires_grad": "on"}
MEMBER = Py("object", "argument")  # any of an enum
Enter = Callable[[Machine, str, Value, list[Value], dict[str, Value]], object]


def program_regions(machine: Machine, module: ModuleInfo, enter: Enter) -> list:
    """The regions of what the file compiles and calls, each as its first call enters it: of objects, and of functions
    that are called more than once."""
    regions = []
    for calls, written in machine.file.programs:
        regions += module_regions(machine, module, calls, written, enter)
        regions += apart_regions(machine, module, calls, enter)
        for group in _by_callee(calls, module):
            first, target = group[0], _target(group[0].callee)
            if len(group) < 2 and type(target) is not Instance:
                continue  # alike calls differ too, in what an earlier one has left on its objects
            name = first.callee.info.qualname
            machine.summaries.remembered.clear()  # what the region reads shows only while it is followed
            # what the region does to containers is not to show in what the call was given
            args, kwargs = _entered_with(first)
            with as_held(first.held):
                region = enter(machine, name, target, args, kwargs)
            regions.append(region)
            if len(group) < 2:
                continue
            recorder = Recorder(
                is_dynamic=_is_dynamic(machine, first.callee), has_examples=first.has_examples
            )
            for call in group:
                recorder.record(call.args, call.kwargs, state_of(call, group), _found(call))
                recorder.marks.append(call.written)
                recorder.done.append(call.done)
            owner = Sequence("tuple", [first.owner or NONE, *first.modules])
            add_events(machine, region.activation, first.callee, recorder, written, owner)
            emit_kept(machine, group, written)
            emit_late_hooks(machine, region.activation, group)
            settle_given_anew(machine, group)
    return regions


def _entered_with(call: DrivenCall) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of the first call, as a region has them that other calls enter with others."""
    names = [p.arg for p in positional_parameters(call.callee.info.node)]
    names = names[1:] if call.callee.bound is not None else names
    names += [str(index) for index in range(len(names), len(call.args))]
    args = [_as_entered(value, name) for name, value in zip(names, call.args, strict=False)]
    return args, {name: _as_entered(value, name) for name, value in call.kwargs.items()}


def _as_entered(value: Value, name: str) -> Value:
    return as_made_before(value, name) or as_argument(as_it_is(value))


def handed_by_program(machine: Machine, function: Function) -> dict[str, Value]:
    """The parameters that are plain numbers, flags or texts, or lists or tuples of these, in all calls that
    the file's own code makes of the function."""
    rows = [
        bound(machine, call.callee, call.args, call.kwargs)
        for calls, _ in machine.file.programs
        for call in calls
        if type(call.callee) is Function and call.callee.info is function.info
    ]
    plain = [
        name for name in sorted(rows[0] if rows else ()) if _are_plain([r.get(name) for r in rows])
    ]
    return {name: _any_of([row[name] for row in rows]) for name in plain}


def _are_plain(values: list[Value | None]) -> bool:
    """True for numbers, flags or texts, whether they are known or not, and for lists or tuples of these."""
    if all(type(value) is Sequence and value.items != [] for value in values):
        return _are_plain([item for value in values for item in value.items or [value.element]])
    return all(map(_is_plain, values))


def _any_of(values: list[Value]) -> Value:
    """What stands for plain values: of lists of several lengths, one of any length."""
    first = values[0]
    if type(first) is Sequence and len({len(value.items or ()) for value in values}) > 1:
        items = [item for value in values for item in value.items or [value.element]]
        return Sequence(first.type, None, join_all([_any_of([item]) for item in items]))
    if getattr(first, "type", "").startswith("enum"):
        return MEMBER
    return as_any_argument(first)


def _is_plain(value: Value | None) -> bool:
    if type(value) is Py:
        return value.type in ("bool", "int", "float", "str") or value.type.startswith("enum")
    return type(value) is Scalar or (type(value) is Const and value.value is not None)


def module_regions(
    machine: Machine,
    module: ModuleInfo,
    calls: list[DrivenCall],
    written: list[tuple],
    enter: Enter,
) -> list[Region]:
    """What differs between the calls of the modules of torch's that are compiled, and what is set in between on
    modules of the file's own that they hold."""
    regions = []
    for group in of_modules(calls):
        states = [state_of(call, group) for call in group]
        activation = emit_module_calls(machine, module, group, states)
        first, name = group[0], group[0].callee.describe()
        emit_late_hooks(machine, activation, group)
        regions.append(Region(name, activation))
        if written[first.written : group[-1].written] and type(first.callee) is Sequence:
            args = [as_argument(value) for value in first.args]
            machine.summaries.remembered.clear()
            region = enter(machine, name, first.callee, args, {})
            frame = Frame(module, None, None, region.activation, True, 0, "")
            marks = [call.written for call in group]
            place = activation.steps[0].child, group[1].node.func
            emit_writes(machine, frame, first.callee, written, marks, place)
            regions.append(region)
    return regions


def _by_callee(calls: list[DrivenCall], module: ModuleInfo) -> list[list[DrivenCall]]:
    """The calls of each function of the checked source: Dynamo keeps what it compiled with the code, for all objects
    and closures that have it."""
    groups: dict[int, list[DrivenCall]] = {}
    for call in calls:
        if type(call.callee) is Function and _is_checked(call.callee, module):
            groups.setdefault(id(call.callee.info), []).append(call)
    return list(groups.values())


def _is_checked(function: Function, module: ModuleInfo) -> bool:
    """True for the file's own, and what it imports from the checked source, not from an installed package."""
    return function.info.module is module or not function.info.module.library


def _target(callee: Function) -> Value:
    """What is called: an object by itself, for its hooks."""
    is_entered = callee.info.name in ("forward", "__call__")
    return callee.bound if is_entered and type(callee.bound) is Instance else callee


def _found(call: DrivenCall) -> dict[str, Value]:
    """What the code has besides its arguments: the object, and the closure's variables."""
    owner = call.callee.bound
    taken = positional_parameters(call.callee.info.node)[:1] if owner is not None else []
    return {parameter.arg: owner for parameter in taken} | call.variables


def state_of(call: DrivenCall, group: list[DrivenCall]) -> dict[str, str]:
    """The global state as far as it is nobody's, or the called object's and that of its parts. How another
    object was prepared says nothing of this one, but for its mode."""
    state: dict[str, str] = {}
    several = len({id(other.owner) for other in group}) > 1
    held = (call.owner, *call.modules)
    parts = {id(part) for value in held for part in parts_of(value)}
    for key, text in call.state.items():
        what, _, owner = key.partition(" ")
        is_of_parts = owner and what in PLAIN_SETTINGS
        if is_of_parts or (owner and several):
            continue
        if what == "hooks" and type(call.callee) is Function and int(owner) == id(call.owner):
            continue  # those of an object of the file's own class run around the compiled code
        if not owner or int(owner) in parts:
            state[what] = f"{state[what]}, {text}" if what in state else text
    for what, plain in PLAIN_SETTINGS.items():
        set_to = [text for value in held for text in _settings(value, what, [*call.state.items()])]
        if set(set_to) - {plain}:
            state[what] = _shown_settings(set_to, plain)
    return state


def _settings(
    value: Value | None,
    what: str,
    state: list[tuple[str, str]],
    latest: int = -1,
    depth: int = limits.DEEPEST_MODULE_WALK,
) -> Iterator[str]:
    """The mode of a module, and of each in it, or whether it is trained: what was set last, of itself or of
    what holds it."""
    if value is None or depth == 0:
        return
    key = f"{what} {id(value)}"
    latest = max([latest, *(at for at, (name, _) in enumerate(state) if name == key)])
    if isinstance(value, Instance | ExternalInstance):
        yield state[latest][1] if latest >= 0 else PLAIN_SETTINGS[what]
    for part in inside(value):
        yield from _settings(part, what, state, latest, depth - 1)


def _shown_settings(texts: list[str], plain: str) -> str:
    if len(set(texts)) == 1:
        return texts[0]
    if len(texts) <= limits.MOST_SHOWN_SETTINGS:
        return ", ".join(texts)
    other = [text for text in texts if text != plain]
    return f"{other[0]} in {len(other)} of {len(texts)} modules"


def _is_dynamic(machine: Machine, callee: Function) -> bool:
    """True where torch.compile was told to take sizes and numbers as dynamic from the start."""
    options = machine.file.dynamic
    given = options.get(id(callee.bound)) or options.get(id(callee.original))
    return given == Const(True) or callee.info.node in machine.file.compiled_names().dynamic
