"""Queues of the standard library in the code around a region: what is put into one comes out again."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

# the method of a deque that takes the next item out
NEXT = {
    "queue.Queue": "popleft",
    "queue.SimpleQueue": "popleft",
    "queue.LifoQueue": "pop",
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
    if name in ("get", "get_nowait"):
        return behaviour.call_method(machine, held, NEXT[owner.name], [], {}, node, frame)
    if name == "empty" and held.items is not None:
        return Const(not held.items)
    return behaviour.length(machine, held, node, frame) if name == "qsize" else None
