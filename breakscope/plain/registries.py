"""Registries: dicts at the top of a file into which decorators of the file put the classes and functions they decorate."""

from __future__ import annotations

import _ast

from breakscope.plain.bindings import DEFINITIONS
from breakscope.plain.reach import named


def registry_of(function: _ast.FunctionDef, is_called: bool) -> str:
    """The registry that a decorator fills: `@register`, or `@register("name")` when it `is_called`. "" for a function that
    may do anything else with what it decorates."""
    if function.decorator_list:
        return ""
    if is_called:
        inner = [part for part in function.body if type(part) in DEFINITIONS]
        last = function.body[-1]
        if len(inner) != 1 or type(last) is not _ast.Return or type(last.value) is not _ast.Name:
            return ""
        others = [part for part in function.body if part not in (*inner, last)]
        if last.value.id != inner[0].name or not all(map(_is_check, others)):
            return ""
        function = inner[0]
    spec = function.args
    if len(spec.args) != 1 or spec.posonlyargs or spec.kwonlyargs or spec.vararg or spec.kwarg or function.decorator_list:
        return ""
    return _filled_by(function.body, spec.args[0].arg)


def _filled_by(body: list[_ast.stmt], decorated: str) -> str:
    """The one name whose items the body sets to what is decorated, which it hands back."""
    found: list[str] = []
    for part in body[:-1]:
        if type(part) is _ast.Assign and len(part.targets) == 1 and type(part.targets[0]) is _ast.Subscript:
            owner, value = part.targets[0].value, part.value
            if type(owner) is not _ast.Name or type(value) is not _ast.Name or value.id != decorated:
                return ""
            found.append(owner.id)
        elif not _is_check(part):
            return ""
    last = body[-1]
    is_handed_back = type(last) is _ast.Return and type(last.value) is _ast.Name and last.value.id == decorated
    return found[0] if is_handed_back and len(found) == 1 and found[0] != decorated else ""


def _is_check(part: _ast.stmt) -> bool:
    """True for a docstring, an assertion, `if ...: raise ...`, and `name = name or ...`."""
    if type(part) is _ast.If:
        return not part.orelse and all(type(inner) is _ast.Raise for inner in part.body)
    if type(part) is _ast.Assign:
        is_name = len(part.targets) == 1 and type(part.targets[0]) is _ast.Name
        return is_name and type(part.value) is _ast.BoolOp and part.targets[0].id in named(part.value)
    return type(part) is _ast.Assert or type(part) is _ast.Expr and type(part.value) is _ast.Constant
