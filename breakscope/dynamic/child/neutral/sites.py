"""From a break's place to what stands there in the source: the expression, its statement, and what
can be done."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
WITHOUT_A_NAME = (ast.Attribute, ast.Subscript)


@dataclass(frozen=True)
class Site:
    """A break to neutralise. Columns are characters from 1, the end one past the last; `branch`:
    Dynamo could not decide on a value; `attempt`: which of the possible ways to take, from 0."""

    number: int
    line: int
    column: int
    end_column: int
    branch: bool
    attempt: int


@dataclass(frozen=True)
class Found:
    """What stands at a site. `expression` is None where the break is the statement's own."""

    expression: ast.expr | None
    statement: ast.stmt
    parents: dict[ast.AST, ast.AST]

    def ways(self, branch: bool) -> list[str]:
        """What can be done here, the most exact first; nothing where nothing can.

        "truth": only the decision is taken for real. "list": what is iterated over. "value": the
        expression, its operands traced. "whole": the statement's whole expression. "context":
        entered in eager only. "left out": a call without a value. "not stored": an assignment to
        anything but a local name.
        """
        node, statement = self.expression, self.statement
        parent = self.parents.get(node) if node is not None else None
        if isinstance(statement, (ast.With, ast.AsyncWith)) and (
            node is None or isinstance(parent, ast.withitem)
        ):
            return ["context"]
        ways = []
        if node is not None:
            decides = self._decides(node)
            if branch and decides:
                ways.append("truth")
            if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
                ways.append("list")
            if not isinstance(node, (ast.Name, ast.Constant)):
                ways.append("value")
            if self.outermost() is not None:
                ways.append("whole")
        if not self._is_effect(node):
            return ways
        return ["left out", *ways] if isinstance(statement, ast.Expr) else [*ways, "not stored"]

    def called(self) -> ast.expr:
        """The expression, or the call of it when it is what is called: `self.lstm` in
        `self.lstm(x)`."""
        parent = self.parents.get(self.expression)
        return (
            parent
            if isinstance(parent, ast.Call) and parent.func is self.expression
            else self.expression
        )

    def outermost(self) -> ast.expr | None:
        """The largest expression of the statement around the site that is evaluated as one and
        binds no name."""
        node = self.expression
        best = None
        while isinstance(node, (ast.expr, ast.comprehension, ast.keyword)):
            if isinstance(self.statement, ast.Expr) and node is self.statement.value:
                break  # what a call alone changes must be changed in the traced program
            if isinstance(node, ast.expr) and isinstance(
                getattr(node, "ctx", ast.Load()), ast.Load
            ):
                best = node
            node = self.parents.get(node)
            if isinstance(node, (ast.Lambda, ast.Starred)):
                break
        unfit = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Constant)
        if (
            best is None
            or any(isinstance(inner, unfit[:4]) for inner in ast.walk(best))
            or isinstance(best, unfit)
        ):
            return None
        return best

    def _decides(self, node: ast.expr) -> bool:
        parent = self.parents.get(node)
        if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return parent.test is node
        if isinstance(parent, ast.comprehension):
            return node in parent.ifs
        return isinstance(parent, ast.BoolOp) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        )

    def _is_effect(self, node: ast.expr | None) -> bool:
        """The statement gives no local name a value, and the break is the statement itself or the
        call that it is."""
        statement = self.statement
        if isinstance(statement, ast.Expr):
            return node is None or self.called() is statement.value
        if isinstance(statement, ast.Delete):
            return True
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [getattr(statement, "target", None)]
        )
        return isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and all(
            isinstance(target, WITHOUT_A_NAME) for target in targets
        )


def find(tree: ast.AST, text: str, site: Site) -> Found | None:
    """What stands at a site of a parsed file; None when no statement does."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    expression = _subscript(_expression(tree, text.splitlines(), site), parents)
    statement: ast.AST | None = expression
    if expression is None:
        inside = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and _holds(node, site.line)
        ]
        statement = max(inside, key=lambda node: node.lineno, default=None)
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = parents.get(statement)
    if expression is None:
        expression = _computed(statement)
    return Found(expression, statement, parents) if statement is not None else None


def _expression(tree: ast.AST, lines: list[str], site: Site) -> ast.expr | None:
    """The expression that Dynamo's carets mark: its start is right; its end where an expression
    ends there."""
    if not 0 < site.line <= len(lines):
        return None
    text = lines[site.line - 1]
    start, end = _offset(text, site.column), _offset(text, site.end_column)
    there = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.expr, ast.stmt))
        and (node.lineno, node.col_offset) == (site.line, start)
    ]
    starting = [node for node in there if isinstance(node, ast.expr) and _is_read(node)]
    exact = [
        node for node in starting if (node.end_lineno, node.end_col_offset) == (site.line, end)
    ]
    if not exact and any(
        (node.end_lineno, node.end_col_offset) == (site.line, end) for node in there
    ):
        return None  # the whole statement, or what it assigns to
    # of several on the line: the first that is computed
    if exact and isinstance(exact[0], (ast.Tuple, ast.List)):
        return next(
            node for node in reversed(starting) if not isinstance(node, (ast.Name, ast.Constant))
        )
    longer = [node for node in starting if node.end_lineno > site.line]
    return next(iter(exact or longer or starting), None)


def _computed(statement: ast.stmt | None) -> ast.expr | None:
    """What a statement computes that breaks nothing by itself: torch up to 2.11 marks no
    expression, only the statement."""
    if isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return statement.test
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return statement.iter
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [getattr(statement, "target", None)]
    )
    if isinstance(statement, ast.Return) or (
        isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        and all(isinstance(target, ast.Name) for target in targets)
    ):
        return statement.value
    return None


def _subscript(node: ast.expr | None, parents: dict[ast.AST, ast.AST]) -> ast.expr | None:
    """What a slice belongs to; any other expression itself."""
    while isinstance(node, ast.Slice) or (
        node is not None
        and isinstance(parents.get(node), ast.Subscript)
        and any(isinstance(inner, ast.Slice) for inner in getattr(node, "elts", ()))
    ):
        node = parents.get(node)
    return node


def _is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _offset(text: str, column: int) -> int:
    return len(text[: max(column - 1, 0)].encode())


def _holds(node: ast.stmt, line: int) -> bool:
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
    return node.lineno <= line <= max(last, node.lineno)


def locally_bound(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> set[str]:
    """The names that the functions and comprehensions around a node bind: all others are globals of
    its file."""
    names: set[str] = set()
    while (node := parents.get(node)) is not None:
        if isinstance(node, FUNCTIONS):
            names |= {
                argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)
            }
        if isinstance(node, FUNCTIONS + SCOPED):
            names |= set(_stored(node))
            names -= {
                name
                for inner in ast.walk(node)
                if isinstance(inner, ast.Global)
                for name in inner.names
            }
    return names


def _stored(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            yield inner.id
        elif (
            isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler))
            and inner is not node
            and inner.name
        ):
            yield inner.name
        elif isinstance(inner, ast.alias):
            yield inner.asname or inner.name.partition(".")[0]
