"""Which functions are generators."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import children, kept_with_node
from breakscope.static.project.modules import FunctionInfo


@kept_with_node
def is_generator(info: FunctionInfo) -> bool:
    """True when the function's own body yields; looked at only where a line of it has the word."""
    node, lines = info.node, info.module.yield_lines()
    return (
        not isinstance(node, ast.Lambda)
        and any(node.lineno <= line <= node.end_lineno for line in lines)
        and _yields(node.body)
    )


def _yields(body: list[ast.stmt]) -> bool:
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(children(node))
    return False
