"""Which names statements bind, and to what."""

from __future__ import annotations

import _ast

DEFINITIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def decorator_of(node: _ast.expr) -> _ast.expr:
    """What `@name` or `@name(...)` names."""
    return node.func if type(node) is _ast.Call else node


def bound_by(body: list[_ast.stmt]) -> list[str]:
    """The names that statements at the top of a file bind."""
    found: list[str] = []
    for node in body:
        if isinstance(node, (*DEFINITIONS, _ast.ClassDef)):
            found.append(node.name)
            continue
        targets = [*getattr(node, "targets", ()), *([node.target] if hasattr(node, "target") else ())]
        targets += [item.optional_vars for item in getattr(node, "items", ())]
        found += [alias.asname or alias.name.partition(".")[0] for alias in getattr(node, "names", ())]
        while targets:
            target = targets.pop()
            if type(target) is _ast.Name:
                found.append(target.id)
            targets += getattr(target, "elts", ())
        for name in BLOCKS:
            found += bound_by(getattr(node, name, None) or [])
    return found


def side_by_side(node: _ast.Assign) -> list[tuple[str, _ast.expr]]:
    """Name and value of each in `a, b = 1, 2`; nothing for other assignments."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or type(target) is not _ast.Tuple or type(value) is not _ast.Tuple:
        return []
    if any(type(name) is not _ast.Name for name in target.elts) or any(type(v) is _ast.Starred for v in value.elts):
        return []
    return [(name.id, v) for name, v in zip(target.elts, value.elts)] if len(target.elts) == len(value.elts) else []
