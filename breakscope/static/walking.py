"""The nodes of a tree, in the order of `ast.walk` and `ast.iter_child_nodes`, and three to four times as fast."""

from __future__ import annotations

import ast
from functools import lru_cache

LEAVES = (ast.Name, ast.Constant)
NEVER_NODES = frozenset("arg asname attr conversion ctx id is_async kind kwd_attrs level module rest simple type_comment".split())


def walk(root: ast.AST) -> list[ast.AST]:
    """The node and all nodes inside it, outer ones first; without the contexts (`ast.Load`, ...) of names."""
    found = [root]
    for node in found:  # grows as it is gone through
        if type(node) not in LEAVES:
            found += children(node)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right inside a node, without contexts."""
    found = []
    for name in _fields_of(type(node)):
        part = getattr(node, name, None)
        if type(part) is list:
            found += [inner for inner in part if isinstance(inner, ast.AST)]
        elif isinstance(part, ast.AST):
            found.append(part)
    return found


@lru_cache(None)
def _fields_of(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that hold nodes, contexts left out."""
    return tuple(name for name in kind._fields if name not in NEVER_NODES)
