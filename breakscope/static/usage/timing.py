"""Benchmarks written by hand: a clock read before and after calls of something compiled."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from breakscope.rulekit.usage import Wrapped
from breakscope.rulekit.values import External, Value
from breakscope.rulekit.walking import walk
from breakscope.static.usage.graph_outputs import ON_GPU
from breakscope.static.usage.loops import path_of
from breakscope.static.usage.state import State

# what evaluates an expression
Evaluate = Callable[[ast.expr], Value]
CLOCKS = frozenset(
    f"time.{n}"
    for n in ("time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns")
) | {"timeit.default_timer"}


def timed_calls(
    state: State, evaluate: Evaluate, statements: list[ast.stmt]
) -> Iterator[tuple[ast.AST, ast.Call, str]]:
    """(difference, call, "compiling") for each span of a block that times the first call of
    something compiled, and only calls; (difference, call, "launching") for those that end before a
    GPU has done what it was given to do.

    A span that holds more than calls is no benchmark: a training loop's total time includes
    compiling by right.
    """
    started: dict[str, int] = {}  # name that holds a clock's value -> index of its statement
    for index, statement in enumerate(statements):
        if (
            isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
            and statement.value is not None
        ):
            for node in walk(statement.value):
                span = _difference(state, node, started, index)
                if span:
                    calls = _only_calls(evaluate, statements[span[0] + 1 : span[1]])
                    first = [
                        call
                        for call in calls or ()
                        if call is not None and _is_first(state, evaluate(call.func), call)
                    ]
                    if first:
                        yield node, first[-1], "compiling"
                    if calls and calls[-1] is not None and re.search(ON_GPU, state.module.source):
                        yield node, calls[-1], "launching"
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            started.pop(name, None)
            if _is_clock(state, statement.value):
                started[name] = index


def _is_clock(state, node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and not node.args and path_of(node.func)):
        return False
    value = state.path_value(node.func)
    return isinstance(value, External) and value.name in CLOCKS


def _difference(
    state: State, node: ast.AST, started: dict[str, int], index: int
) -> tuple[int, int] | None:
    """The statements between two readings of the clock, when the node subtracts them."""
    if not (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.right, ast.Name)
    ):
        return None
    if node.right.id not in started:
        return None
    if isinstance(node.left, ast.Name) and node.left.id in started:
        return started[node.right.id], started[node.left.id]
    return (started[node.right.id], index) if _is_clock(state, node.left) else None


def _only_calls(evaluate, statements: list[ast.stmt]) -> list[ast.Call | None] | None:
    """The calls of something compiled, None for one that waits for the device; None in all where
    the statements do more."""
    found: list[ast.Call | None] = []
    for statement in statements:
        call: ast.AST | None = None
        if isinstance(statement, ast.Expr | ast.Assign):
            call = statement.value
        elif isinstance(statement, ast.With) or (
            isinstance(statement, ast.For) and _is_range(statement.iter)
        ):
            inside = _only_calls(evaluate, statement.body)
            if inside is None:
                return None
            found += inside
            continue
        if not isinstance(call, ast.Call):
            return None
        if path_of(call.func).endswith("synchronize"):
            found.append(None)
            continue
        value = evaluate(call.func)
        if not (isinstance(value, Wrapped) and value.is_compiled):
            return None
        found.append(call)
    return found


def _is_first(state: State, value: Wrapped, call: ast.Call) -> bool:
    return state.first_calls.get(id(value.node), value) is call


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )
