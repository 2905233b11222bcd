"""Where the value of a property that is read through `super()` is used."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import begin_of, walk

OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute)


def first_use(node: ast.AST, function: ast.AST) -> ast.AST | None:
    """The expression of `function` that first computes with the value of `node`, None where it is
    only handed on.

    `node` itself, or the first later mention of the name that it is assigned to.
    """
    parent = _parent(node, function)
    if (
        not isinstance(parent, ast.Assign)
        or len(parent.targets) != 1
        or not isinstance(parent.targets[0], ast.Name)
    ):
        return node if _computes(parent, node) else None
    name = parent.targets[0].id
    mentions = [
        part
        for part in walk(function)
        if isinstance(part, ast.Name) and part.id == name and begin_of(part) > begin_of(node)
    ]
    for part in sorted(mentions, key=lambda part: begin_of(part)):
        if not isinstance(part.ctx, ast.Load):
            return None
        if _computes(_parent(part, function), part):
            return part
    return None


def _parent(node: ast.AST, function: ast.AST) -> ast.AST | None:
    return next((outer for outer in walk(function) if node in ast.iter_child_nodes(outer)), None)


def _computes(parent: ast.AST | None, node: ast.AST) -> bool:
    """True for an operator, an item, an attribute, a loop, and a call of or with the value; a call
    by a bare name may hand it on, and `is` compares no more than the object."""
    if isinstance(parent, ast.Call):
        return parent.func is node or isinstance(parent.func, ast.Attribute)
    if isinstance(parent, ast.Compare):
        return not all(isinstance(operator, ast.Is | ast.IsNot) for operator in parent.ops)
    if isinstance(parent, ast.For):
        return parent.iter is node
    return isinstance(parent, OPERATIONS)
