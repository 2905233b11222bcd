"""Whether a call computes anything with tensors. Dynamo skips a function for good when its first call gives
it no operation to put into a graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from breakscope.rulekit.values import (
    Const,
    ExternalInstance,
    Instance,
    Py,
    Scalar,
    Tensor,
    Union,
    Value,
    holds_tensor,
)
from breakscope.static.machine.frames import Frame

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine

# attributes of a tensor that are operations
COMPUTED = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})
OPERATIONS = frozenset(
    {ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute}
)
CONTAINMENT = (ast.In, ast.NotIn, ast.Is, ast.IsNot)  # of which Python gives the answer
# builtins that hand on what they are given
GATHERING = frozenset(
    "list tuple dict set zip enumerate reversed sorted iter next getattr isinstance".split()
)
# statements that may do more than the expressions in them
DOING = (ast.AugAssign, ast.With, ast.For, ast.Try, ast.Raise, ast.Delete)


class Watch(Struct, eq=False):
    """What a call did: how many statements it ran, whether one may have been an operation, and the last
    `return` that it came to."""

    statements: int = 0
    works: bool = False
    ran: set[int] = set()  # ids of the statements
    followed: set[int] = set()  # ids of calls of functions whose statements were run
    left_at: ast.Return | None = None

    @contextmanager
    def watching(self, machine: Machine, function: Value) -> Iterator[None]:
        """See all that runs until the end of the block, in which `function` is called."""
        # what was set since the last call is nowhere in the arguments
        machine.summaries.remembered.pop(id(getattr(function, "info", None)), None)
        machine.watch = self
        try:
            yield
        finally:
            machine.watch = None

    def evaluated(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if not self.works and type(node) in OPERATIONS and id(node) not in self.followed:
            self.works = _is_operation(node, value, frame)

    def executed(self, node: ast.stmt, frame: Frame, run: Callable[[], int]) -> int:
        self.statements += 1
        self.ran.add(id(node))
        status = run()
        if isinstance(node, ast.Return):
            self.left_at = node
        if isinstance(node, DOING) and not self.works:
            self.works = _does(node, frame)
        return status

    def inlined(self, function: Value, node: ast.AST, run: Callable[[], Value]) -> Value:
        before = self.statements
        value = run()
        if self.statements > before or isinstance(function.info.node, ast.Lambda):
            self.followed.add(id(node))
        return value


def _does(node: ast.stmt, frame: Frame) -> bool:
    """True where a statement may do more than the expressions in it: not where a number of Python's is counted."""
    if isinstance(node, ast.For):
        return may_be_tensor(frame.names.get(_name(node.iter)))
    if not isinstance(node, ast.AugAssign):
        return True
    owner = node.target.value if isinstance(node.target, ast.Attribute) else node.target
    value = frame.names.get(_name(owner))
    if owner is not node.target:
        value = value.attributes.get(node.target.attr) if type(value) is Instance else None
    return type(value) not in (Const, Py)


def _is_operation(node: ast.expr, value: Value, frame: Frame) -> bool:
    """True where an expression may have put something into a graph."""
    if isinstance(node, ast.Attribute):
        return node.attr in COMPUTED and may_be_tensor(value)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return may_be_tensor(frame.names.get(node.value.id))
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], CONTAINMENT):
        return may_be_tensor(frame.names.get(_name(node.comparators[0])))
    if isinstance(node, ast.Call) and _name(node.func) == "print":
        return True  # which ends the graph, and what is behind it is compiled
    if isinstance(node, ast.Call) and _name(node.func) not in GATHERING:
        return type(value) is ExternalInstance or may_be_tensor(value) or holds_tensor(value)
    return may_be_tensor(value)


def may_be_tensor(value: Value | None) -> bool:
    return may_be_in_graph(value) or type(value) is Scalar


def may_be_in_graph(value: Value | None) -> bool:
    """True for what an operation of the graph may have given: a number that was read from a tensor is Python's
    behind the break there."""
    return value is not None and (value.is_unknown or type(value) in (Tensor, Union))


def _name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""
