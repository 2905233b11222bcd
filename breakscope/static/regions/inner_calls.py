"""What differs between the calls that one call of a region makes of a function: where a break makes Dynamo compile
the function by itself, it is compiled again for that."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import Function, Instance
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import as_argument
from breakscope.static.regions.driver import add_events
from breakscope.static.regions.region import Region
from breakscope.static.variables.misc import Recorder


def apart_regions(
    machine: Machine, module: ModuleInfo, calls: list[DrivenCall], enter
) -> list[Region]:
    """For each function that the first call of something compiled calls more than once: what differs."""
    regions, seen = [], set()
    for call in calls:
        outer = id(getattr(call.callee, "info", call.callee))
        if outer in seen or not call.inner:
            continue
        seen.add(outer)
        for group in _by_function(call.inner):
            if len(group) > 1:
                regions.append(_region(machine, module, group, call.has_examples, enter))
    return regions


def _by_function(calls: list[DrivenCall]) -> list[list[DrivenCall]]:
    groups: dict[int, list[DrivenCall]] = {}
    for call in calls:
        groups.setdefault(id(call.callee.info), []).append(call)
    return [*groups.values()]


def _region(
    machine: Machine, module: ModuleInfo, group: list[DrivenCall], has_examples: bool, enter
) -> Region:
    first = group[0]
    callee: Function = first.callee
    machine.summaries.remembered.clear()  # what it reads shows only while it is followed
    args = [as_argument(value) for value in first.args]
    kwargs = {name: as_argument(value) for name, value in first.kwargs.items()}
    region = enter(machine, callee.info.qualname, callee, args, kwargs)
    recorder = Recorder(has_examples=has_examples)
    spec = callee.info.node.args
    own = [*spec.posonlyargs, *spec.args][:1] if isinstance(callee.bound, Instance) else []
    for call in group:
        found = {part.arg: call.callee.bound for part in own}
        recorder.record(call.args, call.kwargs, {}, found)
        recorder.marks.append(0)
    add_events(machine, region.activation, callee, recorder, [])
    _keep_differences(region.activation)
    return replace(region, apart=(module.path, callee.info.node.lineno))


def _keep_differences(activation: Activation) -> None:
    """Leave only what differs: all else shows where the function is called. That layers are others is left out
    where their tensors differ, too."""
    entered = next((step.child for step in activation.steps if step.child is not None), None)
    if entered is None:
        return
    found = [step for step in entered.steps if type(step.event) is Varies]
    others = [step for step in found if step.event.what != "object"]
    entered.steps = others or found
    entered.is_repeated = entered.varies = False
