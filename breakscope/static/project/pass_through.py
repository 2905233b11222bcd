"""Functions that hand one argument back unchanged, as decorators that only document or register do.

Following what such a function does to docstrings and signatures would cost more than all models
together, and Dynamo never sees it. Short ones are still run: they may enter the argument into a
registry.
"""

from __future__ import annotations

import ast
import re

from breakscope import limits
from breakscope.rulekit.walking import kept_with_node, last_name, walk
from breakscope.static.project.modules import FunctionInfo, ModuleInfo

IMPORTS_TORCH = re.compile(rb"\b(?:import|from)\s+torch\b")


@kept_with_node
def handed_back(info: FunctionInfo) -> str | None:
    """The parameter that a long function returns on every path; None for all other functions."""
    found = _returned_parameter(info, limits.MOST_HANDED_BACK_STEPS)
    plain = (
        found
        and _statements(info.node) > limits.LONGEST_REGISTERED_BODY
        and not _changes(info.node.body, found)
    )
    return found if plain else None


@kept_with_node
def wrapped_name(info: FunctionInfo) -> str:
    """The closure's name that a wrapper `(*args, **kwargs)` hands its arguments on to; "" when this
    is no such wrapper."""
    spec, found = info.node.args, set()
    if isinstance(info.node, ast.FunctionDef) and spec.vararg and spec.kwarg:
        for part in walk(info.node):
            if (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and any(
                    isinstance(a, ast.Starred)
                    and isinstance(a.value, ast.Name)
                    and a.value.id == spec.vararg.arg
                    for a in part.args
                )
            ):
                found.add(part.func.id)
    return found.pop() if len(found) == 1 else ""


@kept_with_node
def traced_instead(wrapper: FunctionInfo, around: FunctionInfo) -> str:
    """The name, in the function around a wrapper, of what Dynamo traces instead of the wrapper; ""
    when it traces the wrapper. That is how `torch.jit.script_if_tracing` and its copies in libraries
    are known: `wrapper.__script_if_tracing_wrapper = True`, with `wrapper.__original_fn` beside it
    (see wrap_script_if_tracing in torch/_dynamo/variables)."""
    marked, original = False, ""
    for part in around.node.body if isinstance(around.node, ast.FunctionDef) else ():
        if not isinstance(part, ast.Assign) or not isinstance(part.targets[0], ast.Attribute):
            continue
        target = part.targets[0]
        if not isinstance(target.value, ast.Name) or target.value.id != wrapper.name:
            continue
        if target.attr == "__script_if_tracing_wrapper":
            marked = True
        if target.attr == "__original_fn" and isinstance(part.value, ast.Name):
            original = part.value.id
    return original if marked else ""


def _returned_parameter(info: FunctionInfo, depth: int) -> str | None:
    node = info.node
    if not isinstance(node, ast.FunctionDef) or not depth or not node.args.args:
        return None
    if isinstance(
        node.body[-1], ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Assert | ast.Pass
    ):
        return None  # returns None there
    own, last = {p.arg for p in node.args.args}, node.body[-1]
    if isinstance(last, ast.Return) and _source_of(info, last.value, depth) not in own:
        return None  # as most do, whatever they return elsewhere
    names = {_source_of(info, r.value, depth) for r in _returns(node.body)}
    if len(names) != 1:
        return None
    name = names.pop()
    return name if name in own and not _rebinds(node.body, name) else None


def _source_of(info: FunctionInfo, value: ast.expr | None, depth: int) -> str | None:
    """The parameter whose value an expression certainly is."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        callee = _definition(info, value.func.id)
        if callee is not None:
            name = _returned_parameter(callee, depth - 1)
            parameters = [p.arg for p in callee.node.args.args]
            if name in parameters:
                at = parameters.index(name)
                given = (
                    value.args[at]
                    if at < len(value.args)
                    else next((k.value for k in value.keywords if k.arg == name), None)
                )
                return given.id if isinstance(given, ast.Name) else None
    return None


def _definition(info: FunctionInfo, name: str) -> FunctionInfo | None:
    """The function `name` at the top of the same module."""
    for statement in info.module.tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return FunctionInfo(name, name, statement, info.module)
    return None


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    return [s for s in _own_statements(body) if isinstance(s, ast.Return)]


def _rebinds(body: list[ast.stmt], name: str) -> bool:
    for statement in _own_statements(body):
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [getattr(statement, "target", None)]
        )
        if any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            for t in targets
            if t is not None
            for n in walk(t)
        ):
            return True
    return False


def _changes(body: list[ast.stmt], name: str) -> bool:
    """True when an attribute of `name` is set that decides what it does: all but those that only
    describe it."""
    for statement in _own_statements(body):
        for target in getattr(statement, "targets", ()):
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == name
            ):
                if not target.attr.startswith("__") or target.attr in ("__init__", "__call__"):
                    return True
    return False


def _statements(node: ast.FunctionDef) -> int:
    return sum(1 for _ in _own_statements(node.body))


def _own_statements(body: list[ast.stmt]):
    stack = list(body)
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            stack.extend(s for s in getattr(statement, name, ()) if isinstance(s, ast.stmt))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            stack.extend(part.body)


def gives_text_of_elsewhere(info: FunctionInfo) -> bool:
    """True for a long function of an installed package's module that does without torch, by whose
    annotation it returns a text, as that of a downloaded file's place: how it comes by it decides
    nothing."""
    return info.module.library and info.owner is None and _gives_text(info)


@kept_with_node
def _gives_text(info: FunctionInfo) -> bool:
    return (
        isinstance(info.node, ast.FunctionDef)
        and _may_be_text(info.node.returns)
        and IMPORTS_TORCH.search(info.module.text) is None
        and _statements(info.node) > limits.LONGEST_REGISTERED_BODY
    )


def _may_be_text(annotation: ast.expr | None) -> bool:
    """True for `str`, and for a union with it."""
    if isinstance(annotation, ast.BinOp):
        return _may_be_text(annotation.left) or _may_be_text(annotation.right)
    if isinstance(annotation, ast.Subscript):
        of = (
            annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        )
        name = last_name(annotation.value)
        return name in ("Optional", "Union") and any(map(_may_be_text, of))
    return isinstance(annotation, ast.Name) and annotation.id == "str"


def is_foreign(module: ModuleInfo) -> bool:
    """True for an installed package's module that knows nothing of torch: what its decorators check
    or register leaves a model's classes and functions as they are."""
    return b"torch" not in module.text
