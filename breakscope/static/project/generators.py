"""Which functions are generators."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import children
from breakscope.static.project.modules import FunctionInfo


def is_generator(info: FunctionInfo) -> bool:
    """True when the function's own body yields; looked at only where a line of it has the word."""
    node = info.node
    known = getattr(node, "generator", None)  # it follows from the text alone, and is kept with it
    if known is None:
        lines = info.module.yield_lines()
        known = node.generator = (
            not isinstance(node, ast.Lambda)
            and any(node.lineno <= line <= node.end_lineno for line in lines)
            and _yields(node.body)
        )
    return known


def _yields(body: list[ast.stmt]) -> bool:
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(children(node))
    return False
