"""The part of a function that its calls run."""

from __future__ import annotations

import ast
import copy

from breakscope.static.machine.watch import Watch

BLOCKS = ("body", "orelse", "finalbody")


def executed_part(node: ast.AST, calls: list[Watch]) -> ast.AST:
    """The function without the statements that none of its calls came to, as far as all of these were followed."""
    if isinstance(node, ast.Lambda) or not calls or not all(call.ran for call in calls):
        return node
    ran = frozenset().union(*(call.ran for call in calls))
    body = [_part(statement, ran) for statement in node.body if id(statement) in ran]
    return _with_blocks(node, {"body": body}) if body else node


def _part(statement: ast.AST, ran: frozenset[int]) -> ast.AST:
    """A statement with what was run in it; all of a function or a class. What handles an exception is followed
    whether one is raised or not."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement
    blocks = {name: getattr(statement, name) for name in BLOCKS if getattr(statement, name, None)}
    kept = {
        name: [_part(part, ran) for part in block if id(part) in ran]
        for name, block in blocks.items()
    }
    if isinstance(statement, ast.Try):
        kept["handlers"] = []
    return _with_blocks(statement, kept) if kept != blocks else statement


def _with_blocks(node: ast.AST, blocks: dict[str, list[ast.AST]]) -> ast.AST:
    made = copy.copy(node)
    for name, block in blocks.items():
        setattr(made, name, block)
    return made
