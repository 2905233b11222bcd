"""Statements of a source file, as spans of lines: the unit by which a prediction and an observation
meet."""

from __future__ import annotations

import ast

from breakscope.reading import Unreadable, read_file
from breakscope.source_roots import may_read

Span = tuple[int, int]  # first and last line, both counted from 1 and included


class Statements:
    """The statements of one file. A file that cannot be read or parsed has a statement on every
    line."""

    def __init__(self, source: bytes | str) -> None:
        try:
            self.spans = sorted(_spans(ast.parse(source)), key=lambda span: span[1] - span[0])
        except (SyntaxError, ValueError, RecursionError):
            self.spans = []

    @classmethod
    def of_file(cls, path: str) -> Statements:
        if not may_read(path):
            return cls("")
        try:
            return cls(read_file(path))
        except Unreadable:
            return cls("")

    def around(self, line: int) -> Span:
        """The simple statement, or the header of the compound statement, that `line` belongs to."""
        return next((span for span in self.spans if span[0] <= line <= span[1]), (line, line))

    def touched(self, first: int, last: int) -> frozenset[Span]:
        """The statements that the lines `first` to `last` touch."""
        header = self.around(first)
        if last <= header[1]:
            return frozenset((header,))
        return frozenset(self.around(line) for line in range(first, min(last, first + 200) + 1))


def _spans(tree: ast.AST) -> list[Span]:
    spans = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        if isinstance(node, ast.Match):
            spans.append((node.lineno, node.subject.end_lineno))
        elif not (isinstance(body, list) and body and isinstance(body[0], ast.stmt)):
            spans.append((node.lineno, node.end_lineno))
        elif isinstance(node, (ast.If, ast.While)):
            spans.append((node.lineno, node.test.end_lineno))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            spans.append((node.lineno, node.iter.end_lineno))
        else:
            spans.append((node.lineno, max(node.lineno, body[0].lineno - 1)))
    return spans
