"""What the shape of the code says: names that a function binds or hands out, calls that report a
failure."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakscope.rulekit.walking import all_parameters, walk
from breakscope.static.usage.loops import path_of


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The parts of `a, b = x, y`; empty for any other assignment."""
    sides = (ast.Tuple, ast.List)
    if not (
        isinstance(target, sides)
        and isinstance(value, sides)
        and len(target.elts) == len(value.elts)
    ):
        return []
    if any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts)):
        return []
    return list(zip(target.elts, value.elts))


@lru_cache(maxsize=4096)
def bound(node: ast.AST) -> frozenset[str]:
    """Parameters and every name that the function binds."""
    stored, shared = {a.arg for a in all_parameters(node)}, set()
    for statement in node.body:
        for part in walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                stored.add(part.id)
            elif isinstance(part, ast.Global | ast.Nonlocal):
                shared.update(part.names)
    return frozenset(stored - shared)


@lru_cache(maxsize=4096)
def kept(node: ast.AST) -> frozenset[str]:
    """The names that a function hands out: returned, yielded, or stored in an attribute, an item or
    a global."""
    found: set[str] = set()
    for part in walk(node):
        targets = part.targets if isinstance(part, ast.Assign) else ()
        stores = any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets)
        if (stores or isinstance(part, ast.Return | ast.Yield)) and part.value is not None:
            found |= {n.id for n in _outside_calls(part.value) if isinstance(n, ast.Name)}
        elif isinstance(part, ast.Global | ast.Nonlocal):
            found |= set(part.names)
    return frozenset(found)


def _outside_calls(node: ast.expr):
    """The parts of an expression that are not the function of a call."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and child is node.func):
            yield from _outside_calls(child)


def names_prefix(tree: ast.Module) -> bool:
    """Code of the file deals with the prefix; comments and docstrings do not count."""
    texts = {id(s.value) for s in walk(tree) if isinstance(s, ast.Expr)}
    return any(
        (isinstance(n, ast.Attribute) and n.attr == "_orig_mod")
        or (
            isinstance(n, ast.Constant)
            and isinstance(n.value, str)
            and "_orig_mod" in n.value
            and id(n) not in texts
        )
        for n in walk(tree)
    )


def reports(call: ast.Call) -> bool:
    """A call that reports the failure."""
    name = path_of(call.func).lower()
    return any(word in name for word in ("log", "warn", "print", "fail", "error", "exit", "append"))


def is_main(node: ast.If) -> bool:
    return isinstance(node.test, ast.Compare) and path_of(node.test.left) == "__name__"
