"""Changes that happen in the first calls only, because the test in front of them asks for what they
change."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.walking import walk

BLOCKS = ("body", "orelse", "finalbody")  # of statements
PARTS = ("handlers", "cases")  # of statements, that have blocks
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
MAY_SKIP = (ast.IfExp, ast.BoolOp, ast.Lambda)  # parts of these need not run


def settles(function: ast.AST, change: ast.AST, home: str) -> bool:
    """True for a change of the container at `home` ("self.seen") inside of an `if` of the function
    that asks for the container's length, whether it is empty, or whether it has an item; or for a
    name or attribute that the same block sets to a constant."""
    home = _written(home)
    for block in ifs_around(function, change.lineno):
        asked = {ast.unparse(part) for part in walk(block.test) if _is_place(part)}
        if _asks_for(block.test, home) or not asked.isdisjoint(_constants_set(block.body)):
            return True
        if any(_is_missing(function, name, home) for name in asked):
            return True
    return False


def has_item(function: ast.AST, node: ast.stmt, target: ast.expr) -> bool:
    """True where the statement that stores an item reads it first, or one before it in its block does, or asserts that
    it is there: `self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * weight` changes what a plain dict has."""
    if not isinstance(target, ast.Subscript):
        return False
    if isinstance(node, ast.AugAssign):
        return True
    wanted = ast.unparse(target)
    for statement in _up_to(function, node):
        if isinstance(statement, ast.Assert):
            if f"{ast.unparse(target.slice)} in {ast.unparse(target.value)}" in ast.unparse(
                statement.test
            ):
                return True
        elif isinstance(statement, SIMPLE) and statement.value is not None:
            parts = list(walk(statement.value))
            if not any(isinstance(part, MAY_SKIP) for part in parts) and any(
                isinstance(part, ast.Subscript) and ast.unparse(part) == wanted for part in parts
            ):
                return True
    return False


def _up_to(function: ast.AST, node: ast.stmt) -> list[ast.stmt]:
    """The statements of the block in which one stands, as far as that one."""
    holders = [function]
    for holder in holders:  # grows
        for name in BLOCKS:
            block = getattr(holder, name, None)
            if not isinstance(block, list):
                continue
            for index, statement in enumerate(block):
                if statement is node:
                    return block[: index + 1]
            holders += block
        for name in PARTS:
            holders += getattr(holder, name, ())
    return []


def _is_missing(function: ast.AST, name: str, home: str) -> bool:
    """True for the name of what a container lacks: `missing = wanted - len(self.seen)`, or `- len(self)`."""
    owner = home.rpartition(".")[0]
    return any(
        isinstance(part, ast.Assign)
        and ast.unparse(part.targets[0]) == name
        and isinstance(part.value, ast.BinOp)
        and isinstance(part.value.op, ast.Sub)
        and ast.unparse(part.value.right) in {f"len({home})", f"len({owner})"}
        for part in walk(function)
    )


def longest_kept(function: ast.AST, change: ast.AST, home: str) -> ast.expr | None:
    """The `n` of an `if len(self.seen) > n` around what takes items out of the container at `home`."""
    home = _written(home)
    for block in ifs_around(function, change.lineno):
        for part in walk(block.test):
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Gt | ast.GtE):
                if ast.unparse(part.left) == f"len({home})":
                    return part.comparators[0]
    return None


def _written(home: str) -> str:
    """A container's home as the function writes it."""
    return home.removeprefix("global ").removeprefix("nonlocal ")


def ifs_around(function: ast.AST, line: int) -> Iterator[ast.If | ast.While]:
    """The `if` and `while` of a function whose body, not whose `else`, holds a line."""
    blocks = [function.body] if isinstance(function.body, list) else []
    while blocks:
        statements = blocks.pop()
        if not statements or not _holds(statements, line):
            continue
        for statement in statements:
            if statement.lineno <= line <= statement.end_lineno:
                if isinstance(statement, ast.If | ast.While) and _holds(statement.body, line):
                    yield statement
                parts = [statement]
                for inner in PARTS:
                    parts += getattr(statement, inner, [])
                blocks += [getattr(p, name, []) for p in parts for name in BLOCKS]


def _holds(statements: list[ast.stmt], line: int) -> bool:
    return statements[0].lineno <= line <= statements[-1].end_lineno


def _asks_for(test: ast.AST, home: str) -> bool:
    for part in walk(test):
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            if ast.unparse(part.operand) == home:
                return True
        if isinstance(part, ast.Compare) and len(part.ops) == 1:
            left, op, right = ast.unparse(part.left), part.ops[0], ast.unparse(part.comparators[0])
            if isinstance(op, ast.NotIn) and right == home:
                return True
            if isinstance(op, ast.Lt | ast.LtE | ast.Eq) and left == f"len({home})":
                return True
    return False


def _constants_set(body: list[ast.stmt]) -> set[str]:
    """The names and attributes that statements set to constants."""
    return {
        ast.unparse(target)
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
    }


def _is_place(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)
