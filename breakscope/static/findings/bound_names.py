"""Whether a rewrite may use the name `torch` where it stands, and what it has to import for it."""

from __future__ import annotations

import ast

from breakscope.rulekit.patch import place_of
from breakscope.rulekit.walking import children

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
IMPORT = ("import torch",)


class NamesOfTorch:
    """What the scopes of a file bind the name `torch` to; each is read once, for all its findings."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.read: dict[ast.AST, bool | None] = {}

    def import_for(self, statement: ast.stmt) -> tuple[str, ...] | None:
        """The imports that a statement needs to use the name `torch`: none where it is bound to the
        package already; None where it is bound to something else."""
        parents = place_of(self.tree, statement).parents
        scopes = (self.tree, *(n for n in parents if isinstance(n, SCOPES[:2])))
        known = [self.is_package(scope) for scope in scopes]
        if None in known:
            return None
        return () if any(known) else IMPORT

    def is_package(self, scope: ast.AST) -> bool | None:
        """True where the scope binds the name to the package, None where to something else."""
        if scope not in self.read:
            self.read[scope] = self._is_package(scope)
        return self.read[scope]

    def _is_package(self, scope: ast.AST) -> bool | None:
        known = False
        for node in _of_scope(scope):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if _binds_package(node, alias):
                        known = known or not _is_for_types_only(self.tree, node)
                    elif (alias.asname or alias.name) == "torch":
                        return None
            elif _binds_otherwise(node):
                return None
        return known


def _of_scope(scope: ast.AST):
    """The nodes of a scope, without those of functions and classes inside it."""
    waiting = children(scope)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += children(node)


def _binds_package(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    if isinstance(node, ast.ImportFrom):
        return False
    if alias.asname:
        return alias.name == "torch" and alias.asname == "torch"
    return alias.name.partition(".")[0] == "torch"


def _is_for_types_only(tree: ast.Module, node: ast.stmt) -> bool:
    """True below `if TYPE_CHECKING:`."""
    return any(
        isinstance(parent, ast.If) and "TYPE_CHECKING" in ast.unparse(parent.test)
        for parent in place_of(tree, node).parents
    )


def _binds_otherwise(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "torch" and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == "torch"
    return isinstance(node, SCOPES) and getattr(node, "name", "") == "torch"
