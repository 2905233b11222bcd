"""Functions under `assume_constant_result`: what they read that does not stay constant."""

from __future__ import annotations

import ast

from breakscope.rulekit.usage import Frozen
from breakscope.rulekit.values import External
from breakscope.rulekit.walking import walk
from breakscope.static.usage.state import State

CLOCKS = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "datetime.datetime.now"}
)


def frozen_events(state: State) -> None:
    """A Frozen event for each read of something that changes."""
    for owner in [
        state.module.tree,
        *(n for n in walk(state.module.tree) if isinstance(n, ast.ClassDef)),
    ]:
        for node in walk(owner) if owner is state.module.tree else owner.body:
            if isinstance(node, ast.FunctionDef) and any(
                _freezes(state, d) for d in node.decorator_list
            ):
                _reads(state, node, owner)


def _freezes(state: State, decorator: ast.expr) -> bool:
    value = state.path_value(decorator) if isinstance(decorator, ast.Name | ast.Attribute) else None
    return isinstance(value, External) and value.name.endswith(".assume_constant_result")


def _reads(state: State, function: ast.FunctionDef, owner: ast.AST) -> None:
    state.function_name = function.name
    local = {a.arg for a in function.args.args} | {
        n.id for n in walk(function) if _is(n, ast.Store)
    }
    set_elsewhere = (
        _set_on_self(owner, function) if isinstance(owner, ast.ClassDef) else frozenset()
    )
    for node in walk(function):
        if isinstance(node, ast.Call):
            value = (
                state.path_value(node.func)
                if isinstance(node.func, ast.Attribute | ast.Name)
                else None
            )
            name = value.name if isinstance(value, External) else ""
            if name in CLOCKS:
                state.emit(Frozen, node, what="clock", name=name)
            elif name.startswith(("random.", "numpy.random.")):
                state.emit(Frozen, node, what="random", name=name)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            if node.attr in set_elsewhere and isinstance(node.ctx, ast.Load):
                state.emit(Frozen, node, what="attribute", name=f"self.{node.attr}")
        elif (
            _is(node, ast.Load)
            and node.id not in local
            and node.id in _set_by_functions(state.module.tree)
        ):
            state.emit(Frozen, node, what="global", name=node.id)


def _is(node: ast.AST, context: type) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)


def _set_on_self(cls: ast.ClassDef, reader: ast.FunctionDef) -> frozenset[str]:
    """Attributes that a method other than `__init__` and the reader sets."""
    found = set()
    for method in cls.body:
        if (
            isinstance(method, ast.FunctionDef)
            and method.name != "__init__"
            and method is not reader
        ):
            for node in walk(method):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    if isinstance(node.value, ast.Name) and node.value.id == "self":
                        found.add(node.attr)
    return frozenset(found)


def _set_by_functions(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        name for node in walk(tree) if isinstance(node, ast.Global) for name in node.names
    )
