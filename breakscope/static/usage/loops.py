"""What a loop changes, and what stays the same in each of its passes."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakscope.rulekit.walking import walk


def path_of(node: ast.expr) -> str:
    """ "self.model" for a name or a chain of attributes; "" for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=256)
def changed_in(loop: ast.AST) -> frozenset[str]:
    """Names and attribute paths that the loop binds, its own target among them."""
    found = set()
    for node in walk(loop):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(path_of(node))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(path_of(node.value))
    return frozenset(found - {""})


def varies(node: ast.AST, loop: ast.AST) -> bool:
    """True when the expression reads something that the loop binds, or makes something new."""
    changed = changed_in(loop)
    for part in walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and path_of(part) in changed:
            return True
        if isinstance(part, (ast.Subscript, ast.Await, ast.Yield)):
            return True
    return False


def counts(loop: ast.AST) -> frozenset[str]:
    """The names that a `for` over range() or enumerate() counts up."""
    if not (
        isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and isinstance(loop.iter.func, ast.Name)
    ):
        return frozenset()
    target = loop.target
    if loop.iter.func.id == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    elif loop.iter.func.id != "range":
        return frozenset()
    short = loop.iter.func.id == "range" and all(
        isinstance(a, ast.Constant) for a in loop.iter.args
    )
    if short and len(range(*(a.value for a in loop.iter.args))) < 3:
        return frozenset()
    return frozenset({target.id}) if isinstance(target, ast.Name) else frozenset()


def sizes(loop: ast.AST) -> frozenset[str]:
    """The names that a `for` binds to several different numbers of the source: a literal tuple or
    list, range()."""
    literal = isinstance(loop, ast.For) and isinstance(loop.iter, ast.Tuple | ast.List)
    if literal and isinstance(loop.target, ast.Name):
        numbers = {
            e.value
            for e in loop.iter.elts
            if isinstance(e, ast.Constant) and isinstance(e.value, int)
        }
        return frozenset({loop.target.id}) if len(numbers) > 1 else frozenset()
    return counts(loop)
