"""Calls of functions under `torch.compiler.disable`: Dynamo leaves them to Python, and has what they give for an input
of the code behind the call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from breakscope.rulekit.values import UNKNOWN, Const, Function, Instance, Py, Value
from breakscope.rulekit.walking import children, walk
from breakscope.static.machine.frames import Frame
from breakscope.static.variables.effects.emitting import emit_call

DISABLED = "torch.compiler.disable()"  # as rules listen to it
COUNTED = frozenset({"int", "float", "str"})
GROWING = frozenset({"append", "appendleft", "add", "extend", "insert"})
TESTS = (ast.Compare, ast.BoolOp, ast.Not)


def call_disabled(
    machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
    follow: Callable[[], Value],
) -> Value:
    """The call breaks the graph, whatever becomes of it. What it counts is another number in each."""
    result = None
    try:
        result = follow()
        kind = _kind_of(result)
        if kind in COUNTED and counts(function.info.node):
            result = Py(kind, "random")
    finally:
        _note_set(machine, function, frame)
        emit_call(machine, DISABLED, function, args, kwargs, node, frame, result=result)
    return result


def _note_set(machine, function: Function, frame: Frame) -> None:
    """The tensors that the method sets of its object in any case, the code behind the call finds as they were set here,
    whoever sets others between calls of the region. Numbers may be others each time."""
    body, parameters = getattr(function.info.node, "body", ()), function.info.node.args.args
    if type(function.bound) is not Instance or not parameters or frame.is_in_branch():
        return
    for statement in body if isinstance(body, list) else ():
        if any(type(part) is ast.Return for part in walk(statement)):
            return
        targets = statement.targets if type(statement) is ast.Assign else ()
        for part in (part for target in targets for part in walk(target)):
            if type(part) is ast.Attribute and getattr(part.value, "id", "") == parameters[0].arg:
                key = id(function.bound), part.attr
                value = function.bound.attributes.get(part.attr, UNKNOWN)
                if key not in machine.region.reads and (value is UNKNOWN or value.is_tensor):
                    machine.region.overwritten.setdefault(key, frame.activation)


def _kind_of(value: Value) -> str:
    return type(value.value).__name__ if type(value) is Const else getattr(value, "type", "")


def counts(function: ast.AST) -> bool:
    """True for a function that gives back what it counts up in something that outlives the call, how long a
    container is that it makes longer, or the next item of an iterator that it finds there."""
    changed, grown, kept, values = set(), set(), set(), {}
    outer = {n for p in walk(function) if isinstance(p, ast.Global | ast.Nonlocal) for n in p.names}
    local = {
        p.id for p in walk(function) if type(p) is ast.Name and type(p.ctx) is ast.Store
    } - outer
    for part in walk(function):
        if type(part) is ast.AugAssign and _first(part.target) not in local:
            changed.add(ast.unparse(part.target))
        elif type(part) is ast.Assign and len(part.targets) == 1:
            target = ast.unparse(part.targets[0])
            if type(part.targets[0]) is ast.Name and target in local:
                values[target] = part.value
            elif any(ast.unparse(p) == target for p in _looked_at(part.value)):
                changed.add(target)
        elif type(part) is ast.Call and getattr(part.func, "id", "") == "next" and part.args:
            if _first(part.args[0]) not in ("", *local):
                kept.add(ast.unparse(part))
        elif type(part) is ast.Call and getattr(part.func, "attr", "") in GROWING:
            if _first(part.func) not in local:
                grown.add(f"len({ast.unparse(part.func.value)})")
    returned = [p.value for p in walk(function) if type(p) is ast.Return and p.value is not None]
    returned = [values.get(getattr(value, "id", ""), value) for value in returned]
    shown = {ast.unparse(part) for value in returned for part in _looked_at(value)}
    return not shown.isdisjoint(changed | grown | kept)


def _first(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


def _looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression, but for tests: their outcome is no number."""
    if not isinstance(node, TESTS):
        yield node
        for child in children(node):
            yield from _looked_at(child)
