"""The user's source: text around a line, the enclosing function's qualified name, the statements
around it."""

from __future__ import annotations

import ast
import tokenize
from dataclasses import dataclass, field
from functools import lru_cache

from breakscope import limits
from breakscope.reading import Unreadable, read_file
from breakscope.rulekit.walking import begin_of
from breakscope.source_roots import may_read


@dataclass(frozen=True)
class SourceFile:
    """One file. A file that cannot be read has no lines; one that cannot be parsed has no nodes."""

    path: str
    lines: tuple[str, ...] = ()
    tree: ast.AST | None = field(default=None, compare=False)

    @staticmethod
    def read(path: str) -> SourceFile:
        """The file as it is when it is first read; without lines where a trace names it and it may
        not be read (see `source_roots`)."""
        return _read(path) if may_read(path) else SourceFile(path)

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def code_end(self, number: int) -> int:
        """The column behind the last character of a line's code, its comment left out."""
        return _comment_starts(self).get(number, len(self.line(number).rstrip()) + 1)

    def enclosing(self, line: int) -> list[ast.AST]:
        """The statements, functions, lambdas and classes around a line, outermost first."""
        found: list[ast.AST] = []
        nodes = [self.tree] if self.tree else []
        while nodes:
            node = nodes.pop()
            first, last = (
                getattr(node, "lineno", 0),
                getattr(node, "end_lineno", None) or len(self.lines),
            )
            if getattr(node, "decorator_list", None):
                first = min(first, node.decorator_list[0].lineno)
            if not first <= line <= last:
                continue
            if isinstance(node, (ast.stmt, ast.Lambda)):
                found.append(node)
            nodes.extend(
                child
                for child in ast.iter_child_nodes(node)
                if hasattr(child, "lineno") or child.__class__ in _HOLDERS
            )
        return sorted(found, key=lambda node: (node.lineno, -(node.end_lineno or 0)))

    def qualified_name(self, line: int) -> str:
        """ "Net.forward" for a line inside that method; "" at module level."""
        names = [
            n.name
            for n in self.enclosing(line)
            if isinstance(n, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        return ".".join(names)

    def function_line(self, line: int) -> int:
        """The first line of the function around a line, decorators included; 0 outside of
        functions."""
        for node in reversed(self.enclosing(line)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return 0

    def call_line(self, line: int, name: str) -> int:
        """The line of the first call of something named `name` inside the function around a line; 0
        when it has none."""
        functions = [
            n
            for n in self.enclosing(line)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        calls = [n for n in ast.walk(functions[-1]) if isinstance(n, ast.Call)] if functions else []
        return min(
            (
                n.lineno
                for n in calls
                if name in (getattr(n.func, "attr", ""), getattr(n.func, "id", ""))
            ),
            default=0,
        )

    def statement(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost simple statement at a line, or of a compound
        statement's header."""
        inside = [n for n in self.enclosing(line) if isinstance(n, ast.stmt)]
        if not inside:
            return line, line
        node = inside[-1]
        body = getattr(node, "body", None)
        last = (
            body[0].lineno - 1
            if isinstance(body, list) and body and isinstance(body[0], ast.AST)
            else node.end_lineno
        )
        return node.lineno, max(node.lineno, last or node.lineno)

    def expression_end(self, line: int, column: int, end_column: int) -> int:
        """Where the expression that starts at a place ends, on the same line; columns are
        characters from 1.

        Dynamo's carets are right about the start but not always about the end: an end that no
        expression has is replaced by that of the longest expression from the start.
        """
        text = self.line(line)
        first = len(text[: column - 1].encode())
        ends = set()
        for statement in self.enclosing(line)[-1:]:
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.expr)
                    and begin_of(node) == (line, first)
                    and node.end_lineno == line
                ):
                    ends.add(
                        len(text.encode()[: node.end_col_offset].decode("utf-8", "replace")) + 1
                    )
        return end_column if not ends or end_column in ends else max(ends)

    def frame(self, line: int) -> tuple[int, tuple[str, ...]]:
        """The source frame of a finding: number of its first line, and the lines: one before, the
        statement's own."""
        last = min(self.statement(line)[1], line + limits.MOST_FRAME_LINES - 1, len(self.lines))
        first = line - 1 if line > 1 and self.line(line - 1).strip() else line
        return first, self.lines[first - 1 : max(last, line)]


@lru_cache(maxsize=256)
def _read(path: str) -> SourceFile:
    try:
        text = read_file(path).decode("utf-8", "replace")
    except Unreadable:
        return SourceFile(path)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        tree = None
    return SourceFile(path, tuple(text.splitlines()), tree)


@lru_cache(maxsize=64)
def _comment_starts(source: SourceFile) -> dict[int, int]:
    """For every line that ends in a comment: the column behind the code before it."""
    starts: dict[int, int] = {}
    lines = iter(line + "\n" for line in source.lines)
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                starts[token.start[0]] = len(token.line[: token.start[1]].rstrip()) + 1
    except (tokenize.TokenError, SyntaxError):
        pass
    return starts


_HOLDERS = (ast.ExceptHandler, ast.match_case)
