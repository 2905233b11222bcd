"""Names that a program puts together: what they certainly begin and end with."""

from __future__ import annotations

import ast


def affixes(node: ast.AST) -> tuple[str, str]:
    """What the text of an f-string, `+`, `%` or `.format()` certainly begins and ends with; empty
    where that is open."""
    kind = type(node)
    if kind is ast.Constant and isinstance(node.value, str):
        return node.value, node.value
    if kind is ast.JoinedStr and node.values:
        return affixes(node.values[0])[0], affixes(node.values[-1])[1]
    if kind is ast.BinOp and isinstance(node.op, ast.Add):
        return affixes(node.left)[0], affixes(node.right)[1]
    if kind is ast.BinOp and isinstance(node.op, ast.Mod):
        return _around(node.left, "%")
    if kind is ast.Call and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _around(node.func.value, "{")
    return "", ""


def fits(name: str, begin: str, end: str) -> bool:
    return name.startswith(begin) and name.endswith(end) and len(name) > len(begin) + len(end)


def _around(template: ast.AST, mark: str) -> tuple[str, str]:
    """The text in front of the first place that is filled in, and behind the last."""
    if (
        not isinstance(template, ast.Constant)
        or not isinstance(template.value, str)
        or mark not in template.value
    ):
        return "", ""
    text = template.value
    if mark == "{":
        return text.partition("{")[0], text.rpartition("}")[2]
    return text.partition("%")[0], text.rpartition("%")[2][1:]
