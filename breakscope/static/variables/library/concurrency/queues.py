"""Queues of the standard library and the heaps of heapq, in the code around a region: what is put into one
comes out again. A sorted list is a heap, so a followed one is kept sorted."""

from __future__ import annotations

import ast
from collections.abc import Callable

from breakscope.rulekit.values import NONE, UNKNOWN, Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.concurrency.threads import let_threads_work
from breakscope.static.variables.library.followed.evaluated import evaluated_call, is_followed

# the method of a deque that takes the next item out
NEXT = {
    "queue.Queue": "popleft",
    "queue.SimpleQueue": "popleft",
    "queue.LifoQueue": "pop",
    "asyncio.Queue": "popleft",
    "multiprocessing.Queue": "popleft",
    "multiprocessing.SimpleQueue": "popleft",
    "torch.multiprocessing.Queue": "popleft",
    "torch.multiprocessing.SimpleQueue": "popleft",
}


def call_queue_method(
    machine: Machine,
    owner: ExternalInstance,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """What a queue's method gives while a program is followed; None where that is not known."""
    if owner.name not in NEXT or frame.emits or not machine.driver.sets:
        return None
    _, held = machine.driver.queues.setdefault(id(owner), (owner, Sequence("deque", [])))
    behaviour = machine.behaviour(held)
    if name in ("put", "put_nowait"):
        given = [*args, *(value for key, value in kwargs.items() if key in ("item", "obj"))]
        return behaviour.call_method(machine, held, "append", given[:1], {}, node, frame)
    waits = name == "join" or (name == "get" and held.items == [])
    if waits and machine.driver.started:
        let_threads_work(machine, node, frame)
    if name in ("get", "get_nowait"):
        return behaviour.call_method(machine, held, NEXT[owner.name], [], {}, node, frame)
    if name == "empty" and held.items is not None:
        return Const(not held.items)
    return behaviour.length(machine, held, node, frame) if name == "qsize" else None


def _push(heap: Sequence, given: list[Value]) -> Value:
    heap.items.append(given[0])
    return NONE


def _pop(heap: Sequence, given: list[Value]) -> Value:
    return heap.items.pop(0)


def _replace(heap: Sequence, given: list[Value]) -> Value:
    first = heap.items.pop(0)
    heap.items.append(given[0])
    return first


def _order(heap: Sequence, given: list[Value]) -> Value:
    return NONE


CHANGES: dict[str, Callable[[Sequence, list[Value]], Value]] = {
    "heapq.heapify": _order,
    "heapq.heappush": _push,
    "heapq.heappop": _pop,
    "heapq.heapreplace": _replace,
}
# push, put in order, pop
PUSHPOP = "heapq.heappushpop"


def call_heap(
    machine: Machine,
    name: str,
    args: list[Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """What a function of heapq gives; a heap whose order is not known is one of which nothing is known."""
    heap = args[0] if args else None
    if not isinstance(heap, Sequence) or not is_followed(machine, frame) or heap.items is None:
        return UNKNOWN
    steps = ["heapq.heappush", "heapq.heappop"] if name == PUSHPOP else [name]
    found = UNKNOWN
    for step in steps:
        try:
            found = CHANGES[step](heap, args[1:])
        except IndexError:
            return UNKNOWN
        ordered = evaluated_call(machine, "sorted", [heap], {}, node, frame)
        if not isinstance(ordered, Sequence) or frame.skips or frame.undecided:
            heap.items, heap.element = None, UNKNOWN
            return UNKNOWN
        heap.items[:] = ordered.items
    return found


def handler(name: str) -> Callable[..., Value]:
    return lambda machine, args, kwargs, node, frame: call_heap(machine, name, args, node, frame)


HANDLERS = {name: handler(name) for name in (*CHANGES, PUSHPOP)}
