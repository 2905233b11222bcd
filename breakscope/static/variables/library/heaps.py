"""The functions of heapq that change a list, in the code around a region. A sorted list is a heap, so a
followed one is kept sorted."""

from __future__ import annotations

import ast
from collections.abc import Callable

from breakscope.rulekit.values import NONE, UNKNOWN, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.evaluated import evaluated_call, is_followed


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
    kwargs: dict[str, Value],
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
    return lambda machine, args, kwargs, node, frame: call_heap(
        machine, name, args, kwargs, node, frame
    )


HANDLERS = {name: handler(name) for name in (*CHANGES, PUSHPOP)}
