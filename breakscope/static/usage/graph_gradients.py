"""Gradients of CUDA graphs that are added up over several calls.

Measured with torch 2.11 on a GPU, 12 training loops: the backward pass is a CUDA graph too, and the
gradients that it makes are its outputs. A backward pass of the next step that adds to them finds
them written over. They stay where torch.compiler.cudagraph_mark_step_begin() says that the step has
not ended, and where `.grad` held other memory before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from breakscope.rulekit.usage import Added, Wrapped
from breakscope.rulekit.walking import walk
from breakscope.static.usage.graph_outputs import MARK, ON_GPU, without_gradients
from breakscope.static.usage.state import State
from breakscope.static.usage.wrapping import short

OWN_GRADIENTS = r"\.grad\s*=[^=]"
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# the `if`s around a call, outermost first: id, "body" or "orelse"
Branches = tuple[tuple[int, str], ...]


class Seen(Struct, frozen=True):
    """The calls in one loop's body, without those of loops inside it."""

    models: tuple[ast.Call, ...]
    backwards: tuple[tuple[ast.Call, Branches], ...]
    zeroes: tuple[tuple[ast.Call, Branches], ...]


def emit_added_gradients(state: State, calls: dict[int, Wrapped], function: ast.AST) -> None:
    """One event for each backward pass of a function, or a module, that adds to what an earlier one
    left."""
    source = state.module.source
    if re.search(OWN_GRADIENTS, source) or (
        MARK in source and any(getattr(n, "attr", "") == MARK for n in walk(function))
    ):
        return
    certainty = "likely" if re.search(ON_GPU, source) else "possible"
    for backward, call, where in _added(function.body, calls, False):
        state.emit(
            Added, backward, certainty, value=calls[id(call)], subject=short(call.func), where=where
        )


def _added(
    body: list[ast.stmt], calls: dict[int, Wrapped], is_zeroed_outside: bool
) -> Iterator[tuple[ast.Call, ast.Call, str]]:
    for loop in _loops(body):
        seen = _seen(loop.body, calls)
        for backward, branches in seen.backwards if seen.models else ():
            where = _where(branches, seen.zeroes, is_zeroed_outside)
            if where:
                yield backward, seen.models[0], where
        yield from _added(loop.body, calls, bool(seen.zeroes))


def _where(branches: Branches, zeroes: tuple, is_zeroed_outside: bool) -> str:
    """Where gradients are let go of, if not before each backward pass of the loop; "" when they
    are, or nobody knows."""
    if not zeroes:
        return "around the loop" if is_zeroed_outside else ""
    gone = {at for call, at in zeroes if not _keeps_memory(call)}
    if not gone:
        return "nowhere"
    for at in sorted(gone, key=len, reverse=True):  # in both branches of an `if` is in each round
        if at and {(*at[:-1], (at[-1][0], part)) for part in ("body", "orelse")} <= gone:
            gone.add(at[:-1])
    return "" if any(branches[: len(at)] == at for at in gone) else "in some rounds"


def _keeps_memory(call: ast.Call) -> bool:
    """True for `zero_grad(set_to_none=False)`."""
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "set_to_none")]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False


def _loops(body: list[ast.stmt]) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
    """The outermost loops among statements."""
    for node in body:
        if isinstance(node, LOOPS):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield from _loops(getattr(node, part, []) or [])


def _seen(body: list[ast.stmt], calls: dict[int, Wrapped]) -> Seen:
    models: list[ast.Call] = []
    backwards: list[tuple[ast.Call, Branches]] = []
    zeroes: list[tuple[ast.Call, Branches]] = []

    def look(node: ast.AST, branches: Branches) -> None:
        if isinstance(
            node, (*LOOPS, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        ):
            return
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(
            without_gradients(item.context_expr) for item in node.items
        ):
            return
        if isinstance(node, ast.If):
            for part in ("body", "orelse"):
                for child in getattr(node, part):
                    look(child, (*branches, (id(node), part)))
            return
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if id(node) in calls:
                models.append(node)
            elif name == "backward":
                backwards.append((node, branches))
            elif name == "zero_grad":
                zeroes.append((node, branches))
        for child in ast.iter_child_nodes(node):
            look(child, branches)

    for statement in body:
        look(statement, ())
    return Seen(tuple(models), tuple(backwards), tuple(zeroes))
