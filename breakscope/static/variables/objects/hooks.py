"""Hooks on modules: their registration, and their runs around a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.subgraphs import call_quietly

HANDLE = "torch.utils.hooks.RemovableHandle"
HOOKS = {
    "register_forward_hook": "forward",
    "register_forward_pre_hook": "pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
    "register_full_backward_pre_hook": "backward",
}


class Hook(Struct, frozen=True):
    """A hook on a module; `is_undecided` where a test that is not known decides whether it is registered."""

    kind: str
    function: Value
    is_undecided: bool


def register_hook(
    machine: Machine, owner: Value, name: str, args: list[Value], node: ast.AST, frame: Frame
) -> Value:
    """`module.register_forward_hook(hook)` and its like."""
    emit_call(machine, "module.register_hook", owner, (Const(name), *args), {}, node, frame)
    if not frame.emits:
        is_undecided = bool(frame.undecided) or frame.in_undecided_call
        hook = Hook(HOOKS[name], args[0], is_undecided)
        machine.objects.hooks.setdefault(id(owner), []).append(hook)
        machine.objects.kept.append(owner)
    return ExternalInstance(HANDLE)


def run_pre_hooks(
    machine: Machine, module: Value, args: list[Value], node: ast.AST, frame: Frame
) -> None:
    """Run the hooks that are called before a module."""
    given = Sequence("tuple", list(args))
    for hook in hooks_of(machine, module):
        if hook.kind == "pre":
            with _sure_only_when_registered(hook, frame):
                call_quietly(machine, hook.function, [module, given], node, frame)


def run_hooks(
    machine: Machine, module: Value, args: list[Value], result: Value, node: ast.AST, frame: Frame
) -> None:
    """Run the hooks that are called with a module's result; those of its backward pass break."""
    given = Sequence("tuple", list(args))
    for hook in hooks_of(machine, module):
        with _sure_only_when_registered(hook, frame):
            if hook.kind == "forward":
                call_quietly(machine, hook.function, [module, given, result], node, frame)
            elif hook.kind == "backward":
                name = "torch.nn.Module.full_backward_hook"
                emit_call(machine, name, hook.function, (), {}, node, frame)


@contextmanager
def _sure_only_when_registered(hook: Hook, frame: Frame) -> Iterator[None]:
    before = frame.certainty
    frame.certainty = "possible" if hook.is_undecided else before
    try:
        yield
    finally:
        frame.certainty = before


def hooks_of(machine: Machine, module: Value) -> list[Hook]:
    """All hooks of a module, those that it had before this file first."""
    shared = machine.world.hooks.get(id(module), [])
    return [*shared, *machine.objects.hooks.get(id(module), ())]
