"""Threads and pools of threads, in the code around a region: what they call is called. A thread that is
started works at the latest where it is joined, and finds what was put into its queue until then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from breakscope.rulekit.values import NONE, External, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

THREAD = "threading.Thread"
POOLS = frozenset(
    {"concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"}
)
FUTURE = "concurrent.futures.Future"
PER_THREAD = "grad_mode"  # a thread begins with gradients, whoever starts it


def call_thread_method(
    machine: Machine,
    owner: ExternalInstance,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """What a method of a thread, a pool or a future does while a program is followed; None where that is
    not known."""
    if frame.emits or not machine.driver.sets:
        return None
    if owner.name == THREAD and name == "start":
        machine.driver.started[id(owner)] = owner
        return NONE
    if owner.name == THREAD and name == "join":
        if machine.driver.started.pop(id(owner), None) is not None:
            _work(machine, owner, node, frame)
        return NONE
    if owner.name in POOLS and name == "submit" and args:
        with _in_thread(machine):
            made = machine.call(args[0], args[1:], kwargs, node, frame)
        return ExternalInstance(FUTURE, (made,))
    if owner.name in POOLS and name == "map" and len(args) > 1:
        with _in_thread(machine):
            return machine.call(External("map"), args, {}, node, frame)
    return owner.args[0] if owner.name == FUTURE and name == "result" and owner.args else None


def _work(machine: Machine, thread: ExternalInstance, node: ast.AST, frame: Frame) -> None:
    """What a thread calls; nothing where its arguments are not known one by one."""
    given = dict(zip(("group", "target", "name", "args", "kwargs"), thread.args))
    given |= dict(thread.kwargs)
    args, named = given.get("args", Sequence("tuple", [])), given.get("kwargs", NONE)
    if (
        "target" in given
        and isinstance(args, Sequence)
        and args.items is not None
        and named.is_none
    ):
        with _in_thread(machine):
            machine.call(given["target"], [*args.items], {}, node, frame)


@contextmanager
def _in_thread(machine: Machine) -> Iterator[None]:
    state = machine.driver.state
    mode = state.pop(PER_THREAD, None)
    try:
        yield
    finally:
        state.pop(PER_THREAD, None)
        if mode is not None:
            state[PER_THREAD] = mode
