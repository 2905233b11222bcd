"""Hooks that are put on a module behind the first call of what is compiled: Dynamo, which found none then, has no
guard on them, and does not run them."""

from __future__ import annotations

from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import Function
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation, Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.states import parts_of
from breakscope.static.regions.variation import differing, variation

HOOKS = "hooks "  # before the id of a module, in the state of a call


def emit_late_hooks(machine: Machine, outer: Activation, calls: list[DrivenCall]) -> None:
    """Emit, where they are put on, the hooks that a later call has, and no earlier one that is like it."""
    first = calls[0]
    parts = {id(part) for value in (first.owner, *first.modules) for part in parts_of(value)}
    for key in (key for key in _late(calls) if key not in first.state):
        module, node, home = machine.driver.hooked.get(int(key.removeprefix(HOOKS)), (None,) * 3)
        if module is None or id(module) not in parts or home.library:
            continue
        owner = machine.text(node.func, home).rpartition(".")[0]
        if owner in machine.file.compiled_names().called:
            continue  # those of what torch.compile returned run around the compiled code
        frame = Frame(home, None, None, outer, True, 0, "")
        machine.emit(Varies, node, frame, name=owner, what="late hooks")


def late_hooks(machine: Machine) -> set[int]:
    """The ids of the functions that are such hooks, and no others."""
    hooks = [hook for each in machine.objects.hooks.values() for hook in each]
    functions = [(hook.function, hook.is_late) for hook in hooks if type(hook.function) is Function]
    early = {id(function.info) for function, is_late in functions if not is_late}
    return {id(function.info) for function, is_late in functions if is_late} - early


def _late(calls: list[DrivenCall]) -> dict[str, None]:
    """The keys of the modules with hooks in a call for which Dynamo has a graph from one without, in their order."""
    return {
        key: None
        for number, call in enumerate(calls)
        for key in call.state
        if key.startswith(HOOKS)
        and any(key not in other.state and _are_alike(other, call) for other in calls[:number])
    }


def _are_alike(one: DrivenCall, other: DrivenCall) -> bool:
    """True where nothing shows that the calls need two graphs."""
    states = [
        {k: v for k, v in call.state.items() if not k.startswith(HOOKS)} for call in (one, other)
    ]
    if states[0] != states[1] or one.kwargs.keys() != other.kwargs.keys():
        return False
    pairs = [*zip(one.args, other.args), *((one.kwargs[k], other.kwargs[k]) for k in one.kwargs)]
    return not any(variation(parts) for pair in pairs for _, parts in differing([*pair]))
