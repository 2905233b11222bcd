"""Hooks on modules: their registration, and their runs around a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from breakscope.rulekit.events import CHOSEN
from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import both, taken
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.subgraphs import call_quietly
from breakscope.static.variables.modules.submodules import descendants

HANDLE = "torch.utils.hooks.RemovableHandle"
HOOKS = {
    "register_forward_hook": "forward",
    "register_forward_pre_hook": "pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
    "register_full_backward_pre_hook": "backward",
}


class Hook(NamedTuple):
    """A hook that a module has, and what decided that it was registered."""

    kind: str
    function: Value
    is_undecided: bool
    condition: str  # of the `if`s by configuration; "" where there is none
    is_late: bool = False  # what is compiled had been called with the module before


def register_hook(
    machine: Machine, owner: Value, name: str, args: list[Value], node: ast.AST, frame: Frame
) -> Value:
    """`module.register_forward_hook(hook)` and its like."""
    emit_call(machine, "module.register_hook", owner, (Const(name), *args), {}, node, frame)
    if not frame.emits:
        here = taken(machine, frame.branch, frame.module) if frame.branch is not None else ""
        condition = both(frame.called_if, here)
        is_undecided = bool(frame.is_in_branch() or condition)
        late = has_been_called(machine, owner)
        hook = Hook(HOOKS[name], args[0], is_undecided, condition, late)
        machine.objects.hooks.setdefault(id(owner), []).append(hook)
        machine.objects.kept.append(owner)
        count_hooks(machine, owner, 1)
        if machine.driver.sets and isinstance(node, ast.Call):
            machine.driver.hooked[id(owner)] = owner, node, frame.module
    return ExternalInstance(HANDLE, (owner,))


def has_been_called(machine: Machine, module: Value) -> bool:
    """True where the file's own code has called something compiled that has the module: Dynamo, which found no hook
    on it then, does not look for one again."""
    driver = machine.driver
    held = (
        value
        for call in (driver.calls or () if driver.sets else ())
        for value in (call.owner, *call.modules)
    )
    key = f"hooks {id(module)}"
    return key not in driver.state and any(
        part is module for value in held for _, part in descendants(machine, value)
    )


def count_hooks(machine: Machine, module: Value, more: int) -> None:
    """Note how many hooks the code around a region has left on a module: where Dynamo finds some, it guards
    their number."""
    driver = machine.driver
    if driver.sets:
        key = "hooks" if driver.calls is None else f"hooks {id(module)}"
        number = int(driver.state.pop(key, "0")) + more
        if number > 0:
            driver.state[key] = str(number)


def run_pre_hooks(
    machine: Machine, module: Value, args: list[Value], node: ast.AST, frame: Frame
) -> None:
    """Run the hooks that are called before a module."""
    for hook in hooks_of(machine, module, frame):
        if hook.kind == "pre":
            given = [module, Sequence("tuple", list(args))]
            call_quietly(machine, hook.function, given, node, frame)


def run_hooks(
    machine: Machine, module: Value, args: list[Value], result: Value, node: ast.AST, frame: Frame
) -> None:
    """Run the hooks that are called with a module's result; those of its backward pass break."""
    for hook in hooks_of(machine, module, frame):
        if hook.kind == "forward":
            given = [module, Sequence("tuple", list(args)), result]
            call_quietly(machine, hook.function, given, node, frame)
        elif hook.kind == "backward":
            emit_call(
                machine, "torch.nn.Module.full_backward_hook", hook.function, (), {}, node, frame
            )


def hooks_of(machine: Machine, module: Value, frame: Frame) -> Iterator[Hook]:
    """All hooks of a module, those that it had before this file first, each under what decides that it
    is there."""
    shared = machine.world.hooks.get(id(module), [])
    condition, undecided = frame.condition, frame.undecided
    for hook in [*shared, *machine.objects.hooks.get(id(module), ())]:
        if hook.is_late:
            continue
        if hook.is_undecided:
            frame.condition, frame.undecided = both(condition, hook.condition), undecided or CHOSEN
        try:
            yield hook
        finally:
            frame.condition, frame.undecided = condition, undecided
