"""From verdicts to findings: every finding stands on a libcst node of the user's own text.

A suspect function is parsed again by libcst as a slice of its own lines; what cannot be found there is no finding.
"""

from __future__ import annotations

import ast
import os

from breakscope.report.model import Finding, Fix, Link
from breakscope.static.judge import Verdict
from breakscope.static.program import ModuleInfo
from breakscope.static.suppress import Suppressions

CONTEXT_LINES = 1  # source lines shown before the finding
LONGEST_SLICE = 3_000  # lines; libcst is quadratic on long call chains
MOST_LINKS = 8


class Flagger:
    """Makes the findings of one file."""

    def __init__(self, module: ModuleInfo) -> None:
        self.module = module
        self.lines = module.source_lines()
        self.spans = _statement_spans(module.tree)
        self.slices: dict[tuple[int, int], object] = {}
        self.suppressions = Suppressions(self.lines)
        self.suppressed: set[tuple] = set()  # places

    def findings(self, verdicts: list[Verdict]) -> list[tuple[Verdict, Finding]]:
        """The findings of the verdicts that libcst confirms and no comment silences."""
        found = []
        for verdict in verdicts:
            node = verdict.problem.node
            statement = self.statement_around(node)
            if not self.confirmed(node, statement):
                continue
            if self.suppressions.hide(verdict.rule.code, statement.lineno, _header_end(statement)):
                self.suppressed.add(verdict.place)
                continue
            found.append((verdict, self.finding(verdict, node, statement)))
        return found

    def finding(self, verdict: Verdict, node: ast.AST, statement: ast.stmt) -> Finding:
        line, column, end_line, end_column = self.range_of(node)
        rule, problem = verdict.rule, verdict.problem
        first = max(1, line - CONTEXT_LINES)
        if self.lines[first - 1].strip() == "" and first < line:
            first += 1
        last = min(end_line, line + 3)
        return Finding(
            path=relative_path(self.module.path), line=line, column=column, end_line=end_line, end_column=end_column,
            code=rule.code, rule=rule.name, kind=rule.kind, severity=rule.severity,
            confidence=verdict.confidence, evidence="predicted",
            function=verdict.event.function, message=problem.message, help=problem.help,
            dynamo=tuple(rule.gb_ids()), chain=links(verdict), condition=verdict.event.condition,
            lost=verdict.problem.lost if rule.kind == "break" else "", fix=self.fix(verdict, statement),
            first_source_line=first, source=tuple(text.rstrip("\r\n") for text in self.lines[first - 1:last]),
        )

    def range_of(self, node: ast.AST) -> tuple[int, int, int, int]:
        """1-based line and character columns; of a compound statement only the header's first line."""
        line, end_line = node.lineno, node.end_lineno
        column = _characters(self.lines[line - 1], node.col_offset) + 1
        if isinstance(node, ast.stmt) and isinstance(getattr(node, "body", None), list):
            return line, column, line, len(self.lines[line - 1].rstrip()) + 1
        return line, column, end_line, _characters(self.lines[end_line - 1], node.end_col_offset) + 1

    def statement_around(self, node: ast.AST) -> ast.stmt:
        """The innermost statement whose lines hold the node."""
        best = None
        for statement in self.spans:
            if statement.lineno > node.lineno:
                break
            if node.end_lineno <= statement.end_lineno:
                best = statement
        return best if best is not None else node

    def confirmed(self, node: ast.AST, statement: ast.stmt) -> bool:
        """True when libcst has a node of the same text in the statement's header."""
        tree = self.tree_of(statement)
        if tree is None:
            return False
        if isinstance(node, ast.stmt):
            return True
        return tree.holds(self.text_of(node))

    def text_of(self, node: ast.AST) -> str:
        line, column, end_line, end_column = self.range_of(node)
        if line == end_line:
            return self.lines[line - 1][column - 1:end_column - 1]
        middle = self.lines[line:end_line - 1]
        return "".join([self.lines[line - 1][column - 1:], *middle, self.lines[end_line - 1][:end_column - 1]])

    def tree_of(self, statement: ast.stmt):
        """The libcst tree of a statement's own lines (of the header only, for a compound statement)."""
        key = (statement.lineno, statement.end_lineno)
        if key not in self.slices:
            from breakscope.static.slices import parse_slice

            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            last = _header_end(statement)
            compound = isinstance(getattr(statement, "body", None), list)
            long = statement.end_lineno - first > LONGEST_SLICE
            self.slices[key] = None if long else parse_slice(self.lines[first - 1:last], compound)
        return self.slices[key]

    def fix(self, verdict: Verdict, statement: ast.stmt) -> Fix | None:
        """The rule's rewrite of the statement, checked to parse back; None when the shape is not the rule's."""
        if verdict.rule.rewriter is None:
            return None
        from breakscope.static.slices import rewrite_statement

        replacement = rewrite_statement(
            self.lines[statement.lineno - 1:statement.end_lineno], lambda node: verdict.rule.rewriter(node, verdict.problem))
        if replacement is None or "torch." in replacement and not self.knows_torch():
            return None
        return Fix(safety=verdict.rule.fix, description=verdict.problem.help, line=statement.lineno,
                   end_line=statement.end_lineno, replacement=replacement)

    def knows_torch(self) -> bool:
        """True when the file imports torch under that name; a rewrite may then use it."""
        imports = (alias for node in ast.walk(self.module.tree) if isinstance(node, ast.Import) for alias in node.names)
        return any((alias.asname or alias.name).partition(".")[0] == "torch" for alias in imports)


def links(verdict: Verdict) -> tuple[Link, ...]:
    """The calls from the region's entry to the finding, outermost first; empty when the region itself holds it."""
    steps = []
    for i, (activation, call) in enumerate(verdict.chain[:-1]):
        if not activation.function or not getattr(call, "lineno", 0):
            continue
        steps.append(Link(path=relative_path(activation.module.path), line=call.lineno, function=activation.function))
    if len(steps) > MOST_LINKS:
        steps = [*steps[:MOST_LINKS // 2], *steps[-MOST_LINKS // 2:]]
    return tuple(steps)


def relative_path(path: str) -> str:
    """The path from the working directory, with forward slashes; absolute when it lies elsewhere."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path.replace(os.sep, "/")
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")


def _header_end(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        first = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", ()))])
        return max(statement.lineno, first - 1) if first > statement.lineno else statement.lineno
    if isinstance(statement, ast.Match):
        return statement.subject.end_lineno
    return statement.end_lineno


def _statement_spans(tree: ast.Module) -> list[ast.stmt]:
    """All statements in order of their first line."""
    found: list[ast.stmt] = []
    stack: list[list[ast.stmt]] = [tree.body]
    while stack:
        for statement in stack.pop():
            found.append(statement)
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner:
                    stack.append(inner)
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                stack.append(part.body)
    return sorted(found, key=lambda s: (s.lineno, -s.end_lineno))


def _characters(line: str, offset: int) -> int:
    """ast counts columns in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))
