"""Whether a call computes anything with tensors. Dynamo skips a function for good when its first call gives
it no operation to put into a graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from breakscope.rulekit.values import (
    ExternalInstance,
    Scalar,
    Tensor,
    Union,
    Value,
    holds_tensor,
)
from breakscope.static.machine.driver import Watch
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

# attributes of a tensor that are operations
COMPUTED = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})
OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute)
# builtins that hand on what they are given
GATHERING = frozenset(
    "list tuple dict set zip enumerate reversed sorted iter next getattr isinstance".split()
)
# statements that may do more than the expressions in them
DOING = (ast.AugAssign, ast.With, ast.For, ast.Try, ast.Raise, ast.Delete)


@contextmanager
def watching(machine: Machine, function: Value, watch: Watch | None) -> Iterator[None]:
    """Note all that runs until the end of the block, in which `function` is called."""
    if watch is None:
        yield
        return
    # what was set since the last call is nowhere in the arguments
    machine.summaries.remembered.pop(id(getattr(function, "info", None)), None)
    expressions, statements = machine.expressions, machine.statements
    machine.expressions = {
        kind: _watched(kind, run, watch) if kind in OPERATIONS else run
        for kind, run in expressions.items()
    }
    machine.statements = {kind: _counted(kind, run, watch) for kind, run in statements.items()}
    inline, machine.inlining = machine.inlining, _followed(machine.inlining, watch)
    try:
        yield
    finally:
        machine.inlining = inline
        machine.expressions, machine.statements = expressions, statements


def _followed(inline: Callable, watch: Watch) -> Callable:
    def followed(machine: Machine, function, args, kwargs, node: ast.AST, frame: Frame) -> Value:
        before = watch.statements
        value = inline(machine, function, args, kwargs, node, frame)
        if watch.statements > before or type(function.info.node) is ast.Lambda:
            watch.followed.add(id(node))
        return value

    return followed


def _watched(kind: type, run: Callable, watch: Watch) -> Callable:
    def evaluated(machine: Machine, node: ast.expr, frame: Frame) -> Value:
        value = run(machine, node, frame)
        if not watch.works and id(node) not in watch.followed:
            watch.works = _is_operation(kind, node, value, frame)
        return value

    return evaluated


def _counted(kind: type, run: Callable, watch: Watch) -> Callable:
    def executed(machine: Machine, node: ast.stmt, frame: Frame) -> int:
        watch.statements += 1
        status = run(machine, node, frame)
        if kind is ast.Return:
            watch.left_at = node
        if kind in DOING and not watch.works:
            over = getattr(node, "iter", None)
            watch.works = kind is not ast.For or _may_be_tensor(frame.names.get(_name(over)))
        return status

    return executed


def _is_operation(kind: type, node: ast.expr, value: Value, frame: Frame) -> bool:
    """True where an expression may have put something into a graph."""
    if kind is ast.Attribute:
        return node.attr in COMPUTED and _may_be_tensor(value)
    if kind is ast.Subscript and type(node.value) is ast.Name:
        return _may_be_tensor(frame.names.get(node.value.id))
    if kind is ast.Call and _name(node.func) == "print":
        return True  # which ends the graph, and what is behind it is compiled
    if kind is ast.Call and _name(node.func) not in GATHERING:
        return type(value) is ExternalInstance or _may_be_tensor(value) or holds_tensor(value)
    return _may_be_tensor(value)


def _may_be_tensor(value: Value | None) -> bool:
    return value is not None and (value.is_unknown or type(value) in (Tensor, Union, Scalar))


def _name(node: ast.expr | None) -> str:
    return node.id if type(node) is ast.Name else ""
