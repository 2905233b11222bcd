"""Attributes of `function.__code__` and `function.__closure__`, which decorators read of what they
wrap."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import UNKNOWN, Cell, Const, Function, Sequence, Value
from breakscope.rulekit.walking import (
    all_parameters,
    children,
    kept_with_node,
    names_in,
    positional_parameters,
)
from breakscope.static.project.modules import FunctionInfo

SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def code_attribute(info: FunctionInfo, name: str) -> Value:
    """`co_varnames`, `co_argcount` or `co_name`."""
    if name == "co_name":
        return Const(info.name)
    if name == "co_argcount":
        return Const(len(positional_parameters(info.node)))
    if name != "co_varnames" or not isinstance(info.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return UNKNOWN
    given = [argument.arg for argument in all_parameters(info.node)]
    names = dict.fromkeys((*given, *_local_names(info.node)))
    return Sequence("tuple", [Const(name) for name in names])


def cells(function: Function) -> Value:
    """`function.__closure__`: a cell for each name of an enclosing function that it uses, in order
    of the names."""
    used = names_in(function.info.node)
    found, scope = {}, function.scope
    while scope is not None and scope.function is not None:
        for name in used & scope.names.keys() - found.keys():
            found[name] = Cell(scope, name)
        scope = scope.scope
    return Sequence("tuple", [found[name] for name in sorted(found)])


@kept_with_node
def _local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names that a function's own statements bind, those of nested scopes left out; a little
    more where a `global` statement stands."""
    found, nodes = [], list(reversed(function.body))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.append(node.name)
        if not isinstance(node, SCOPES):
            nodes.extend(reversed(children(node)))
    return found
