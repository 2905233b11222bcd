"""Settings: variables of a module that its functions set for whoever calls them (`def set_mode(mode): global
MODE; MODE = mode`). What the top level gives them is what they are by default."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.values import CONFIG, Const, Dict, Py, Value
from breakscope.rulekit.walking import all_parameters, walk
from breakscope.static.project.modules import ModuleInfo

ITEM_SET = re.compile(rb"\n[ \t]+(\w+)\[[^\n=]*\] = \w+[ \t]*(?:#[^\n]*)?(?=\n|$)")
TYPES = (bool, int, float, str)


def open_settings(module: ModuleInfo) -> None:
    """Leave open what callers of the module's functions may set."""
    names = module.names
    for name in (_set_by_callers(module) | _switched_once(module, names)) & names.keys():
        names[name] = _opened(names[name])
    for name in {found.decode() for found in ITEM_SET.findall(module.text)} & names.keys():
        value = names[name]
        if type(value) is Dict and value.items and _sets_items(module, name):
            value.items.update({key: _opened(item) for key, item in value.items.items()})


def _opened(value: Value) -> Value:
    if not isinstance(value, Const):
        return value
    if value.value is None:
        return CONFIG
    kind = type(value.value)
    return Py(kind.__name__, "config", value.value) if kind in TYPES else value


def _functions(module: ModuleInfo) -> list[ast.FunctionDef]:
    """The functions at the top of the file."""
    return [node for node in module.tree.body if isinstance(node, ast.FunctionDef)]


def _set_by_callers(module: ModuleInfo) -> set[str]:
    """The global variables that a function sets to what it is given, and no other one otherwise."""
    if b"    global " not in module.text:
        return set()
    given, otherwise = set(), set()
    for function in _functions(module):
        names = {n for part in walk(function) if isinstance(part, ast.Global) for n in part.names}
        if not names:
            continue
        parameters = _parameters(function)
        for part in walk(function):
            if isinstance(part, ast.Assign | ast.AugAssign):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                set_here = {t.id for t in targets if isinstance(t, ast.Name)} & names
                plain = isinstance(part, ast.Assign) and getattr(part.value, "id", "") in parameters
                (given if plain else otherwise).update(set_here)
    return given - otherwise


def _switched_once(module: ModuleInfo, names: dict[str, Value]) -> set[str]:
    """The global flags that functions read and turn, and never back: `if FIRST: print(...)` and then `FIRST = False`.
    They are what the top level gives them in the first call only."""
    if b"    global " not in module.text:
        return set()
    found: dict[str, set[object]] = {}
    for function in (f for f in walk(module.tree) if isinstance(f, ast.FunctionDef)):
        parts = [*walk(function)]
        declared = {n for part in parts if isinstance(part, ast.Global) for n in part.names}
        used = [p for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)]
        declared &= {name.id for name in used}
        for part in parts if declared else ():
            if isinstance(part, ast.Assign):
                given = part.value.value if isinstance(part.value, ast.Constant) else None
                for target in part.targets:
                    if getattr(target, "id", "") in declared:
                        found.setdefault(target.id, set()).add(given)
    flags = {n: v.value for n, v in names.items() if n in found and type(v) is Const}
    return {n for n, value in flags.items() if type(value) is bool and found[n] == {not value}}


def _sets_items(module: ModuleInfo, name: str) -> bool:
    """True where a function sets items of a dict to what it is given."""
    for function in _functions(module):
        parameters = _parameters(function)
        if name in parameters:
            continue
        given = parameters | {
            target.id
            for part in walk(function)
            if isinstance(part, ast.For)
            for target in walk(part.target)
            if isinstance(target, ast.Name)
        }
        for part in walk(function):
            if (
                isinstance(part, ast.Assign)
                and getattr(part.value, "id", "") in given
                and any(
                    isinstance(t, ast.Subscript) and getattr(t.value, "id", "") == name
                    for t in part.targets
                )
            ):
                return True
    return False


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {p.arg for p in all_parameters(function)}
