"""What differs between the calls that regions make of a function: where a break makes Dynamo compile
the function by itself, it is compiled again for that."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import Function, Instance
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo, ModuleInfo
from breakscope.static.regions.arguments import as_argument
from breakscope.static.regions.driver import add_events
from breakscope.static.regions.region import Region
from breakscope.static.variables.misc import Recorder

# the global state that a `with` sets, whatever is called in it
OF_NOBODY = ("autocast", "grad_mode", "default_dtype", "global_state")


def apart_regions(
    machine: Machine, module: ModuleInfo, calls: list[DrivenCall], enter
) -> list[Region]:
    """For each function that something compiled calls, in the first of its calls that does: what differs; and what
    differs between these where several things that are compiled call it."""
    groups: dict[int, dict[int, list[DrivenCall]]] = {}  # by `id`: the function, and who calls it
    compiled: dict[int, FunctionInfo] = {}
    for call in calls:
        info = getattr(call.callee, "info", None)
        compiled[id(info or call.callee)] = info
        for callee, group in _by_function(call.inner).items():
            found = groups.setdefault(callee, {}).setdefault(id(info or call.callee), group)
            if found is not group:
                found += _in_other_states(call, found, group)
    has_examples = any(call.has_examples for call in calls)
    regions = []
    for by_outer in groups.values():
        for group in by_outer.values():
            if len(group) > 1:
                regions.append(_region(machine, module, group, has_examples, enter))
        outers = [compiled[outer] for outer in by_outer]
        if len(outers) > 1 and all(outers):
            firsts = [group[0] for group in by_outer.values()]
            region = _region(machine, module, firsts, has_examples, enter)
            places = tuple((info.module.path, info.node.lineno) for info in outers)
            regions.append(replace(region, outers=places))
    return regions


def _in_other_states(
    outer: DrivenCall, found: list[DrivenCall], group: list[DrivenCall]
) -> list[DrivenCall]:
    """The first of the calls that are known, in states that only those of a later call of the same region are in:
    the region itself was not called in them."""
    before = [_own_state(call, outer) for call in found]
    others = [call.state for call in group if _own_state(call, outer) not in before]
    return [found[0]._replace(state=state) for state in others[:1]]


def _own_state(call: DrivenCall, outer: DrivenCall) -> dict[str, str]:
    """The state that the region has set for a call that it makes."""
    return {
        w: text
        for w, text in call.state.items()
        if text != outer.state.get(w, "") and w in OF_NOBODY
    }


def _by_function(calls: list[DrivenCall]) -> dict[int, list[DrivenCall]]:
    groups: dict[int, list[DrivenCall]] = {}
    for call in calls:
        groups.setdefault(id(call.callee.info), []).append(call)
    return groups


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
    own = positional_parameters(callee.info.node)[:1] if isinstance(callee.bound, Instance) else []
    for call in group:
        found = {part.arg: call.callee.bound for part in own}
        state = {what: text for what, text in call.state.items() if what in OF_NOBODY}
        recorder.record(call.args, call.kwargs, state, found)
        recorder.marks.append(0)
    add_events(machine, region.activation, callee, recorder, [])
    _keep_differences(region.activation)
    return replace(region, apart=(module.path, callee.info.node.lineno))


def _keep_differences(activation: Activation) -> None:
    """Leave of what differs only what shows nowhere else. That layers are others is left out where their
    tensors differ, too."""
    entered = next((step.child for step in activation.steps if step.child is not None), None)
    if entered is None:
        return
    found = [step.event for step in entered.steps if type(step.event) is Varies]
    if any(event.what != "object" for event in found):
        entered.steps = [
            step
            for step in entered.steps
            if type(step.event) is not Varies or step.event.what != "object"
        ]
    entered.is_repeated = entered.varies = False
