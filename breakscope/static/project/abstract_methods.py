"""Methods that a class only announces: what runs is a subclass's."""

from __future__ import annotations

import ast

from breakscope.static.project.modules import FunctionInfo

QUIET = (ast.Assign, ast.Pass, ast.Expr)  # a call that logs what is missing


def is_announced(info: FunctionInfo) -> bool:
    """True for a method that does nothing but raise NotImplementedError, after a message maybe, and for one
    without code that is abstract, is a protocol's, or has `...` in its place."""
    body = info.node.body
    if isinstance(body[-1], ast.Raise):
        return _name(body[-1].exc) == "NotImplementedError" and all(
            isinstance(s, QUIET) for s in body[:-1]
        )
    if not all(isinstance(s, ast.Pass) or _is_text(s) for s in body):
        return False
    is_abstract = any(_name(d).startswith("abstract") for d in info.node.decorator_list)
    return is_abstract or _is_protocol_s(info) or (info.owner is not None and _is_dots(body[-1]))


def _is_protocol_s(info: FunctionInfo) -> bool:
    bases = info.owner.node.bases if info.owner is not None else ()
    plain = (base.value if isinstance(base, ast.Subscript) else base for base in bases)
    return any(_name(base) == "Protocol" for base in plain)


def _is_dots(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and getattr(statement.value, "value", None) is ...


def leaves_to_subclasses(info: FunctionInfo) -> bool:
    """True for a method that ends in NotImplementedError, whatever it returns before."""
    last = info.node.body[-1] if isinstance(info.node, ast.FunctionDef) else None
    return isinstance(last, ast.Raise) and _name(last.exc) == "NotImplementedError"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _name(node: ast.expr | None) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
