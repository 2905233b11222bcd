"""Conditions without needless negations, for the notes that name them."""

from __future__ import annotations

import ast

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.Eq: ast.NotEq,
}
OPPOSITES |= {negative: positive for positive, negative in OPPOSITES.items()}
NEGATIVE = (ast.IsNot, ast.NotIn, ast.NotEq, ast.Not)


def simplified(condition: str) -> str:
    """`x is None` for `not (x is not None)`; a condition that gains nothing as it is."""
    if not condition.startswith("not "):
        return condition
    try:
        test = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):  # a text that was cut
        return condition
    if not isinstance(test, ast.UnaryOp):
        return condition
    opposite = _opposite(test.operand)
    if isinstance(opposite, ast.UnaryOp) and isinstance(opposite.operand, ast.Compare):
        return condition  # `not (x < 1)`, easier to read with its brackets
    text = ast.unparse(opposite)
    shorter = (_negations(opposite), len(text)) < (_negations(test), len(condition))
    return text if shorter else condition


def _opposite(test: ast.expr) -> ast.expr:
    """The negation, pushed inwards."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.BoolOp):
        operator = ast.Or() if isinstance(test.op, ast.And) else ast.And()
        return ast.BoolOp(operator, [_opposite(value) for value in test.values])
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES:
        return ast.Compare(test.left, [OPPOSITES[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _negations(test: ast.expr) -> int:
    return sum(isinstance(node, NEGATIVE) for node in ast.walk(test))
