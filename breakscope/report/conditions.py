"""When the code of a finding runs, in positive words: "`mask` is given", never `not (mask is None)`."""

from __future__ import annotations

import ast

from breakscope.report.model import Finding

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
}
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}
VARIES = "varies"  # the function that stands for "is another in some calls" in a condition
PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def only_when(finding: Finding) -> str:
    """ "only when `mask` is given"; "" for a finding whose code always runs."""
    return ", ".join(
        text
        for text in (
            "only in the backward pass" if finding.backward else "",
            f"only when {in_words(finding.condition)}" if finding.condition else "",
        )
        if text
    )


def in_words(condition: str) -> str:
    """The words for a test's source; its own text where it is none, as one that was cut."""
    try:
        test = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return f"`{condition}`"
    return _words(test, True, condition)


def _words(test: ast.expr, truth: bool, text: str = "") -> str:
    """The words for a test that is true, or false."""
    kind = type(test)
    if kind is ast.Call and getattr(test.func, "id", "") == VARIES and truth:
        return f"`{ast.unparse(test.args[0])}` varies"
    if kind is ast.UnaryOp and isinstance(test.op, ast.Not):
        return _words(test.operand, not truth)
    if kind is ast.BoolOp and (isinstance(test.op, ast.And)) is truth:
        parts = [(_words(value, truth), isinstance(value, ast.BoolOp)) for value in test.values]
        return " and ".join(f"({words})" if is_choice else words for words, is_choice in parts)
    if kind is ast.BoolOp and all(not isinstance(value, ast.BoolOp) for value in test.values):
        return " or ".join(_words(value, truth) for value in test.values)
    if kind is ast.Compare and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES:
        return _comparison(test, truth)
    source = text or ast.unparse(test)
    return f"`{source}`" if truth else f"`{source}` is false"


def _comparison(test: ast.Compare, truth: bool) -> str:
    op, left, right = type(test.ops[0]), test.left, test.comparators[0]
    op = op if truth else OPPOSITES[op]
    if isinstance(right, ast.Constant) and right.value is None and op is ast.IsNot:
        if isinstance(left, ast.Name):
            return f"`{left.id}` is given"
        if isinstance(left, PLAIN):
            return f"`{ast.unparse(left)}` is set"
    if isinstance(right, ast.Constant) and right.value is None and op is ast.Is:
        return f"`{ast.unparse(left)}` is None"
    return f"`{ast.unparse(ast.Compare(left, [op()], [right]))}`"
