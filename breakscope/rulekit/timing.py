"""The rewrite of a clock that is read for timing only: it and all that uses it is skipped while Dynamo
traces.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit.guarding import GUARD, guarded, has_effects, only_writes_text
from breakscope.rulekit.patch import Also, Declined, Patch, Place, place_of
from breakscope.rulekit.walking import names_in, uses_of, walk

KEPT = "the compiled model does not take the time"


def skipped_timing(node: cst.CSTNode, place: Place):
    """A patch that guards the flagged statement and every statement that uses what it sets."""
    if place.function is None or not isinstance(node, cst.SimpleStatementLine):
        return None
    found = _statements(place)
    if found is None:
        return Declined("what the clock says is used in the region")
    also = tuple(Also(s, _guarded) for s in found if s is not place.statement)
    return Patch(_guarded(node), also=also, changes=KEPT)


def _guarded(node: cst.CSTNode):
    return guarded(node) if isinstance(node, cst.SimpleStatementLine) else None


def _statements(place: Place) -> list[ast.stmt] | None:
    """The statements to guard, the flagged one among them; None where one does more than timing."""
    found: list[ast.stmt] = []
    waiting, names = [place.statement], set()
    while waiting:
        statement = waiting.pop()
        if any(statement is known for known in found):
            continue
        where = place_of(place.tree, statement)
        if any(isinstance(p, ast.If) and ast.unparse(p.test) == GUARD for p in where.parents):
            continue
        if not _only_times(statement, where):
            return None
        found.append(statement)
        for name in names_in(statement, ast.Store) - names:
            names.add(name)
            stores = [s for s in _simple(place) if name in names_in(s, ast.Store)]
            if not all(_has_clock_or(s, names) for s in stores):
                return None
            uses = _uses(place, name)
            if uses is None:
                return None
            waiting += [*stores, *uses]
    return found


def _only_times(statement: ast.stmt, place: Place) -> bool:
    """True for a name, attribute or item that is set without other effects, and for a line of text."""
    if isinstance(statement, ast.Expr):
        line = cst.parse_statement(ast.unparse(statement))
        return only_writes_text(cst.IndentedBlock(body=[line]))
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    if has_effects(statement.value):
        return False
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        return True
    if isinstance(target, ast.Attribute):
        read = [
            n
            for n in walk(place.owner or place.tree)
            if isinstance(n, ast.Attribute) and n.attr == target.attr
        ]
        return ast.unparse(target.value) == "self" and all(
            not isinstance(n.ctx, ast.Load) for n in read
        )
    return isinstance(target, ast.Subscript) and _is_global(target.value, place)


def _is_global(node: ast.expr, place: Place) -> bool:
    """True for a name that no function around the statement sets or takes."""
    if not isinstance(node, ast.Name):
        return False
    return not any(
        (isinstance(n, ast.arg) and n.arg == node.id)
        or (isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store))
        for function in place.parents
        if isinstance(function, ast.FunctionDef)
        for n in walk(function)
    )


def _has_clock_or(statement: ast.stmt, names: set[str]) -> bool:
    value = getattr(statement, "value", None)
    return value is not None and (
        any(isinstance(n, ast.Name) and n.id in names for n in walk(value))
        or any(isinstance(n, ast.Call) and _is_clock(n) for n in walk(value))
    )


def _is_clock(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] in CLOCKS


CLOCKS = frozenset(
    f"{name}{unit}"
    for name in "time perf_counter monotonic process_time thread_time now default_timer".split()
    for unit in ("", "_ns")
)


def _simple(place: Place) -> list[ast.stmt]:
    return [n for n in walk(place.function) if isinstance(n, ast.stmt) and not _has_body(n)]


def _has_body(statement: ast.stmt) -> bool:
    return isinstance(getattr(statement, "body", None), list)


def _uses(place: Place, name: str) -> list[ast.stmt] | None:
    """The simple statements that read a name; None where another statement or function does."""
    total = len(uses_of(place.function, name, ast.Load))
    found = [s for s in _simple(place) if uses_of(s, name, ast.Load)]
    return found if sum(len(uses_of(s, name, ast.Load)) for s in found) == total else None
