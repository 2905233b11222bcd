"""Methods that a class only announces: what runs is a subclass's."""

from __future__ import annotations

import ast

from breakscope.static.project.modules import FunctionInfo

QUIET = (ast.Assign, ast.Pass, ast.Expr)  # a call that logs what is missing


def is_announced(info: FunctionInfo) -> bool:
    """True for a method that does nothing but raise NotImplementedError, after a message maybe, and
    for an abstract one without code."""
    body = info.node.body
    if isinstance(body[-1], ast.Raise):
        return _name(body[-1].exc) == "NotImplementedError" and all(
            isinstance(s, QUIET) for s in body[:-1]
        )
    return any(_name(d).startswith("abstract") for d in info.node.decorator_list) and all(
        isinstance(s, ast.Pass) or _is_text(s) for s in body
    )


def leaves_to_subclasses(info: FunctionInfo) -> bool:
    """True for a method that ends in NotImplementedError, whatever it returns before."""
    last = info.node.body[-1] if isinstance(info.node, ast.FunctionDef) else None
    return isinstance(last, ast.Raise) and _name(last.exc) == "NotImplementedError"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _name(node: ast.expr | None) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
