"""Threads, pools of threads and asyncio, in the code around a region: what they call is called. A thread that
is started works at the latest where it is joined, or where something is taken from an empty queue, and finds
what was put into its queue until then."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    External,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Value,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

THREAD = "threading.Thread"
OF_THREADS = frozenset({"start", "join"})
POOLS = frozenset(
    {"concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"}
)
FUTURE = "concurrent.futures.Future"
LOOP = "asyncio.AbstractEventLoop"
PER_THREAD = "grad_mode"  # a thread begins with gradients, whoever starts it
# what asyncio runs, and gives back when it is awaited
RUN_BY_ASYNCIO = frozenset({"run", "create_task", "ensure_future", "wait_for", "shield"})
RUN_BY_LOOP = frozenset({"run_until_complete", "create_task"})


def call_thread_method(
    machine: Machine,
    owner: ExternalInstance | Instance,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """What a method of a thread, a pool, a future or asyncio's loop does while a program is followed; `owner`
    may be of a class that derives from Thread. None where that is not known."""
    if frame.emits or not machine.driver.sets:
        return None
    kind = THREAD if type(owner) is Instance else owner.name
    if kind == THREAD and name == "start":
        machine.driver.started[id(owner)] = owner
        return NONE
    if kind == THREAD and name == "join":
        if machine.driver.started.pop(id(owner), None) is not None:
            _work(machine, owner, node, frame)
        return NONE
    if kind in POOLS and name == "submit" and args:
        return ExternalInstance(FUTURE, (_called(machine, args, kwargs, node, frame),))
    if kind in POOLS and name == "map" and len(args) > 1:
        with _in_thread(machine):
            return machine.call(External("map"), args, {}, node, frame)
    if kind == LOOP and name == "run_in_executor" and len(args) > 1:
        return _called(machine, args[1:], kwargs, node, frame)
    if kind == LOOP and name in RUN_BY_LOOP and args:
        return args[0]
    return owner.args[0] if kind == FUTURE and name == "result" and owner.args else None


def let_threads_work(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Somebody waits for what threads do that were started."""
    started = machine.driver.started
    while started:
        _work(machine, started.pop(next(iter(started))), node, frame)


def _work(
    machine: Machine, thread: ExternalInstance | Instance, node: ast.AST, frame: Frame
) -> None:
    """What a thread calls; nothing where its arguments are not known one by one."""
    if type(thread) is Instance:
        run = machine.getattr(thread, "run", node, frame)
        if type(run) is Function:
            _called(machine, [run], {}, node, frame)
        return
    given = dict(zip(("group", "target", "name", "args", "kwargs"), thread.args))
    given |= dict(thread.kwargs)
    args, named = given.get("args", Sequence("tuple", [])), given.get("kwargs", NONE)
    if (
        "target" in given
        and isinstance(args, Sequence)
        and args.items is not None
        and named.is_none
    ):
        _called(machine, [given["target"], *args.items], {}, node, frame)


def _called(
    machine: Machine, called: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """What a function and its arguments give in a thread."""
    with _in_thread(machine):
        return machine.call(called[0], called[1:], kwargs, node, frame)


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


def _to_thread(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    is_followed = args and machine.driver.sets and not frame.emits
    return _called(machine, args, kwargs, node, frame) if is_followed else UNKNOWN


def _awaited(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    """A coroutine is followed where it is made, and stands for what it gives."""
    return args[0] if args and not frame.emits else UNKNOWN


def _gathered(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    return UNKNOWN if frame.emits or "*" in kwargs else Sequence("list", [*args])


def _loop(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    return UNKNOWN if frame.emits else ExternalInstance(LOOP)


HANDLERS: dict[str, Callable[..., Value]] = {
    "asyncio.to_thread": _to_thread,
    "asyncio.gather": _gathered,
    **{f"asyncio.{name}": _awaited for name in RUN_BY_ASYNCIO},
    **{
        f"asyncio.{name}": _loop
        for name in ("get_running_loop", "get_event_loop", "new_event_loop")
    },
}
