"""Where the statements of a file begin and end, and which one holds an expression."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass

SIMPLE = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Pass, ast.Assert})
Position = tuple[int, int]  # line from 1, column in UTF-8 bytes from 0


@dataclass(frozen=True, slots=True)
class Span:
    """A statement, an `except` clause or a `case`, with its decorators. `header_end` is where the first statement of a
    compound one's body begins, None for a simple statement."""

    node: ast.stmt | ast.ExceptHandler | ast.match_case
    start: Position
    end: Position
    header_end: Position | None
    parent: int  # the span around it, -1 for none


class Spans:
    """All spans of a file, in order of their start."""

    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        rows = [(start_of(node, lines), _end_of(node), node) for node in _statements(tree)]
        rows.sort(key=lambda row: (row[0], (-row[1][0], -row[1][1])))
        self.spans: list[Span] = []
        self._starts = [row[0] for row in rows]
        open_: list[int] = []
        for i, (start, end, node) in enumerate(rows):
            while open_ and self.spans[open_[-1]].end <= start:
                open_.pop()
            self.spans.append(Span(node, start, end, _header_end(node, lines), open_[-1] if open_ else -1))
            open_.append(i)

    def around(self, node: ast.AST) -> Span | None:
        """The innermost span that holds the node."""
        index = bisect_right(self._starts, (node.lineno, node.col_offset)) - 1
        while index >= 0 and self.spans[index].end < (node.end_lineno, node.end_col_offset):
            index = self.spans[index].parent
        return self.spans[index] if index >= 0 else None


def start_of(node: ast.AST, lines: list[str]) -> Position:
    """Where a statement begins, its decorators included."""
    if isinstance(node, ast.match_case):
        line = node.pattern.lineno
        while line > 1 and not lines[line - 1].lstrip().startswith("case"):
            line -= 1
        return line, len(lines[line - 1]) - len(lines[line - 1].lstrip())
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *(d.lineno for d in decorators)]) if decorators else node.lineno, node.col_offset


def _end_of(node: ast.AST) -> Position:
    last = node.body[-1] if isinstance(node, ast.match_case) else node
    return last.end_lineno, last.end_col_offset


def _header_end(node: ast.AST, lines: list[str]) -> Position | None:
    if type(node) in SIMPLE:
        return None
    if isinstance(node, ast.Match):
        return start_of(node.cases[0], lines)
    body = getattr(node, "body", None)
    return start_of(body[0], lines) if isinstance(body, list) else None


def _statements(tree: ast.Module) -> list[ast.AST]:
    found: list[ast.AST] = []
    stack: list[ast.AST] = [*tree.body]
    while stack:
        node = stack.pop()
        found.append(node)
        if type(node) in SIMPLE:
            continue
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                stack.extend(inner)
    return found
