"""Function bodies that are evicted, and parsed again when something reads them.

Many function bodies are reached by no region. Without them the
trees of more modules fit into memory, and a module that stays need not be parsed as a whole again.
"""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.static.project.source import parse
from breakscope.static.project.spans import start_of


class FunctionDef(ast.FunctionDef):
    """A `def` without its body. When it is read, it is parsed, and is a plain `ast.FunctionDef` again:
    the same object, so what is known of the function by its node stays known. It bears the plain
    one's name, by which visitors of `ast` choose."""

    def __getattr__(self, name: str) -> list[ast.stmt]:
        if name != "body":
            raise AttributeError(name)
        text, line = self.__dict__.pop("dropped")
        self.__class__ = ast.FunctionDef
        self.body = parse("\n" * (line - 2) + "if 1:\n" + text, "").body[0].body
        return self.body


def drop_idle_bodies(tree: ast.Module, lines: list[str], since: int) -> int:
    """Evict the bodies of all functions of a module, methods included, that were not entered in
    the turn `since` or later; returns how many characters of the source have no tree now."""
    size = 0
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if type(node) is ast.FunctionDef:
            if getattr(node, "entered", 0) < since:
                size += _drop(node, lines)
        elif type(node) is FunctionDef:
            size += len(node.dropped[0])
        elif type(node) in (ast.ClassDef, ast.If, ast.Try):
            waiting += node.body
            waiting += getattr(node, "orelse", ())
    return size


def _drop(node: ast.FunctionDef, lines: list[str]) -> int:
    first, column = start_of(node.body[0], [])
    if node.end_lineno - first < limits.SHORTEST_EVICTED or lines[first - 1][:column].strip():
        return 0
    text = "".join(lines[first - 1 : node.end_lineno])
    del node.body
    node.dropped = (text, first)
    node.__class__ = FunctionDef
    return len(text)
