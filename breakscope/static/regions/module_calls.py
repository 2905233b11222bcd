"""What differs between the calls of a compiled module of torch's, whose `forward` stands in torch: it is
shown where the file's own code calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import Const, Function, Value
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation, Frame, Step
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.states import emit_states
from breakscope.static.regions.variation import (
    changed_sizes,
    differing,
    is_symbolic,
    shown_values,
    size_differs,
    variation,
)


def emit_module_calls(
    machine: Machine, module: ModuleInfo, calls: list[DrivenCall], states: list[dict]
) -> Activation:
    """What differs between the calls of one module, as seen at those that differ from the first."""
    first = calls[0]
    outer = Activation("", module, 0)
    inner = Activation(f"{first.callee.describe()}", module, first.node.lineno)
    outer.steps.append(Step(None, inner, "", first.node))
    frame = Frame(module, None, None, inner, True, 0, inner.function)
    dynamic = machine.file.dynamic.get(id(first.callee))
    is_alone = sum(size_differs(values) for _, values in _arguments(calls)) == 1
    for place, values in _arguments(calls):
        for path, parts in differing(values):
            what = variation(parts)
            if what in ("", "order") or (dynamic == Const(True) and is_symbolic(what, parts)):
                continue
            if what == "size" and dynamic == Const(False):  # which is said of the wrapper: BRK817
                continue
            node = _argument_of(_first_other(calls, parts), place)
            name = f"{machine.text(node, module)}{path}"
            shown = () if first.has_examples else shown_values(parts)
            fields = {"name": name, "what": what, "values": shown}
            if what == "size":
                fields |= {"changed": changed_sizes(parts), "alone": is_alone}
            machine.emit(Varies, node, frame, **fields)
    other = next((c for c, s in zip(calls, states) if s != states[0]), first)
    emit_states(machine, other.node.func, frame, first.callee, states)
    return outer


def of_modules(calls: list[DrivenCall]) -> Iterator[list[DrivenCall]]:
    """The calls of each module that is called more than once."""
    groups: dict[int, list[DrivenCall]] = {}
    for call in calls:
        if type(call.callee) is not Function:
            groups.setdefault(id(call.callee), []).append(call)
    return (group for group in groups.values() if len(group) > 1)


def _arguments(calls: list[DrivenCall]) -> Iterator[tuple[int | str, list[Value]]]:
    for at in range(min(len(call.args) for call in calls)):
        yield at, [call.args[at] for call in calls]
    for name in calls[0].kwargs:
        if all(name in call.kwargs for call in calls):
            yield name, [call.kwargs[name] for call in calls]


def _first_other(calls: list[DrivenCall], parts: list[Value]) -> DrivenCall:
    """The first call that differs from those before it."""
    numbered = (call for number, call in enumerate(calls, 1) if variation(parts[:number]))
    return next(numbered, calls[0])


def _argument_of(call: DrivenCall, place: int | str) -> ast.expr:
    if isinstance(place, int):
        given = call.node.args
        is_plain = place < len(given) and not any(type(part) is ast.Starred for part in given)
        return given[place] if is_plain else call.node
    found = (keyword.value for keyword in call.node.keywords if keyword.arg == place)
    return next(found, call.node)
