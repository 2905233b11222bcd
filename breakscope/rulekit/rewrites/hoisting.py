"""The rewrite that asks once: an expression of `forward` becomes an attribute that `__init__` sets, or
a constant below the imports.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import builtins
import itertools

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.walking import names_in, uses_of, walk

IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def asked_once(node: cst.CSTNode, wanted: cst.BaseExpression, place: Place, name: str):
    """A fix in which `wanted` is computed once, under a name like `name`, before the region runs."""
    if "#" in rw.code(wanted):
        return None
    try:
        tree = ast.parse(f"({rw.code(wanted)})", mode="eval").body
    except SyntaxError:
        return None
    if place.owner is not None and (made := _in_init(node, wanted, tree, place, name)):
        return made
    return _at_top(node, wanted, tree, place, name)


def _in_init(node, wanted, tree: ast.expr, place: Place, name: str):
    init = next(
        (n for n in place.owner.body if isinstance(n, FUNCTIONS) and n.name == "__init__"), None
    )
    if init is None or place.function is init or not _is_known_in_init(tree, place):
        return None
    taken = {n.attr for n in walk(place.owner) if isinstance(n, ast.Attribute)}
    taken |= {n.name for n in place.owner.body if isinstance(n, FUNCTIONS)}
    name = _free(name.lower(), taken)
    line = f"self.{name} = {rw.code(wanted)}"
    made = rw.swap(node, wanted, f"self.{name}")
    if made is None:
        return None
    return Patch(
        made,
        also=(Also(init.body[-1], lambda last: _behind(last, line)),),
        changes=f"`{ast.unparse(tree)}` is computed once, when the module is made",
        safety="unsafe",
    )


def _at_top(node, wanted, tree: ast.expr, place: Place, name: str):
    imports = [n for n in place.tree.body if isinstance(n, IMPORTS)]
    bound = {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names}
    names = names_in(tree)
    if not imports or not names <= bound | set(dir(builtins)) or "globals" in names:
        return Declined("it is computed from what only the call knows")
    name = _free(name.upper(), names_in(place.tree))
    made = rw.swap(node, wanted, name)
    if made is None:
        return None
    line = f"{name} = {rw.code(wanted)}"
    return Patch(
        made,
        also=(Also(imports[-1], lambda last: _behind(last, line, blank=True)),),
        changes=f"`{ast.unparse(tree)}` is computed once, when the file is imported",
        safety="unsafe",
    )


def _is_known_in_init(tree: ast.expr, place: Place) -> bool:
    """True when an expression reads only constants, what the file binds, and attributes of self that
    `__init__` alone sets, all before its last line."""
    local = names_in(place.function, ast.Store)
    local |= {n.arg for n in walk(place.function) if isinstance(n, ast.arg)}
    for part in walk(tree):
        if isinstance(part, ast.Name) and part.id != "self" and part.id in local:
            return False
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            if part.value.id != "self":
                continue
            stores = place.stores_of(part.attr)
            if not stores or any(function.name != "__init__" for function, _ in stores):
                return False
    selves = len(uses_of(tree, "self"))
    return selves == sum(
        isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
        for n in walk(tree)
    )


def _behind(last: cst.CSTNode, line: str, blank: bool = False):
    added = cst.parse_statement(line)
    if blank:
        added = added.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return cst.FlattenSentinel([last, added])


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(f"{name}_{n}" for n in itertools.count(2) if f"{name}_{n}" not in taken)
