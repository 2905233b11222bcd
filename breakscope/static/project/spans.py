"""Which statement holds an expression, and where that statement begins and ends."""

from __future__ import annotations

import ast
from bisect import bisect_right

from msgspec import Struct

from breakscope.rulekit.walking import begin_of, children, end_of

SIMPLE = frozenset(
    {
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Expr,
        ast.Return,
        ast.Raise,
        ast.Pass,
        ast.Assert,
    }
)
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # as they stand in the file
BLOCK_PARTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
Position = tuple[int, int]  # line from 1, column in UTF-8 bytes from 0


class Span(Struct):
    """A statement, an `except` clause or a `case`, with its decorators. `header_end` is where the
    first statement of a compound one's body begins, None for a simple statement."""

    node: ast.stmt | ast.ExceptHandler | ast.match_case
    start: Position
    end: Position
    header_end: Position | None


class Spans:
    """The spans of a file, found from the top each time: a file has many statements, and findings
    on few."""

    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        self.tree = tree
        self.lines = lines

    def around(self, node: ast.AST) -> Span | None:
        """The innermost span that holds the node."""
        start, end = begin_of(node), end_of(node)
        found, inside = None, self.tree.body
        while inside:
            at = (
                bisect_right(inside, start, key=lambda statement: start_of(statement, self.lines))
                - 1
            )
            if at < 0 or end > _end_of(inside[at]):
                break
            found = inside[at]
            inside = (
                []
                if type(found) in SIMPLE
                else [s for name in BLOCKS for s in getattr(found, name, None) or ()]
            )
        return self.span(found) if found is not None else None

    def span(self, node: ast.AST) -> Span:
        return Span(node, start_of(node, self.lines), _end_of(node), _header_end(node, self.lines))


def nesting(statement: ast.AST, whole: bool) -> int:
    """How many nodes stand in each other in a statement, or in its header unless it is meant as a
    `whole`. libcst nests the operands of `and` and `or`, too."""
    deepest, waiting = 0, [(statement, 0)]
    while waiting:
        node, depth = waiting.pop()
        depth += len(node.values) if isinstance(node, ast.BoolOp) else 1
        deepest = max(deepest, depth)
        waiting += [(n, depth) for n in children(node) if whole or not isinstance(n, BLOCK_PARTS)]
    return deepest


def start_of(node: ast.AST, lines: list[str]) -> Position:
    """Where a statement begins, its decorators included."""
    if isinstance(node, ast.match_case):
        line = node.pattern.lineno
        while line > 1 and not lines[line - 1].lstrip().startswith("case"):
            line -= 1
        return line, len(lines[line - 1]) - len(lines[line - 1].lstrip())
    decorators = getattr(node, "decorator_list", None)
    return min(
        [node.lineno, *(d.lineno for d in decorators)]
    ) if decorators else node.lineno, node.col_offset


def _end_of(node: ast.AST) -> Position:
    last = node.body[-1] if isinstance(node, ast.match_case) else node
    return end_of(last)


def _header_end(node: ast.AST, lines: list[str]) -> Position | None:
    if type(node) in SIMPLE:
        return None
    if isinstance(node, ast.Match):
        return start_of(node.cases[0], lines)
    body = getattr(node, "body", None)
    return start_of(body[0], lines) if isinstance(body, list) else None
