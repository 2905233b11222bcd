"""What a file's own code calls that is compiled, by name, and which of its functions do so."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from breakscope.rulekit.walking import walk
from breakscope.static.project.modules import ModuleInfo


class CompiledNames(NamedTuple):
    """`called` are the names, of attributes too, of what is compiled; `originals` those of what was
    handed to torch.compile and stays as it was; `callers` the functions (by `id` of their `def`)
    that compile something, call what is compiled, or call such a function; `dynamic` those under
    `@torch.compile(dynamic=True)`."""

    called: frozenset[str] = frozenset()
    originals: frozenset[str] = frozenset()
    callers: frozenset[int] = frozenset()
    dynamic: tuple[ast.FunctionDef, ...] = ()


# `.compile(` of an object, and not of the modules whose `compile` is another
IN_PLACE = re.compile(rb"(?<!\bre)(?<!\bregex)\.compile\(")
IMPORTED = re.compile(rb"from torch import[^\n]*\bcompile\b")


def may_compile(text: bytes) -> bool:
    """True when a look at a file's text shows that it may compile something."""
    if b"torch" not in text or b"compile" not in text:
        return False
    return bool(b"torch.compile" in text or IN_PLACE.search(text) or IMPORTED.search(text))


def compiled_names(module: ModuleInfo) -> CompiledNames:
    """The names of a file that were compiled anywhere in it."""
    called, handed, holders = set(), set(), set()
    functions, dynamic = [], []
    for node in walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            functions.append(node)
            if any(map(compiles, node.decorator_list)):
                called.add(node.name)
                dynamic += [node] * any(map(_is_dynamic, node.decorator_list))
        elif isinstance(node, ast.ClassDef):
            members = (part for part in node.body if isinstance(part, ast.FunctionDef))
            if any(map(compiles, (d for part in members for d in part.decorator_list))):
                holders.add(node.name)  # its objects may be what is called
        elif isinstance(node, ast.Assign) and compiles(node.value):
            called |= {name_of(target) for target in node.targets}
        elif is_compile(node) and node.args:
            handed.add(name_of(node.args[0]))
        elif _is_in_place(node):
            called.add(name_of(node.func.value))
    called.discard("")
    direct = [node for node in functions if is_caller(node, called | holders)]
    return CompiledNames(
        frozenset(called),
        frozenset(handed - called),
        _with_their_callers(functions, direct),
        tuple(dynamic),
    )


def _is_dynamic(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "dynamic"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in decorator.keywords
    )


def _with_their_callers(
    functions: list[ast.FunctionDef], direct: list[ast.FunctionDef]
) -> frozenset[int]:
    """The functions, and those that call one of them by its name, through any number of calls."""
    found = {id(node) for node in direct}
    names = {node.name for node in direct}
    called = {id(node): _called_names(node) for node in functions}
    while more := [f for f in functions if id(f) not in found and called[id(f)] & names]:
        found |= {id(node) for node in more}
        names |= {node.name for node in more}
    return frozenset(found)


def _called_names(node: ast.AST) -> set[str]:
    return {name_of(part.func) for part in walk(node) if isinstance(part, ast.Call)}


def is_caller(node: ast.AST, names: set[str]) -> bool:
    """True for a function that compiles something, or calls what is compiled."""
    return isinstance(node, ast.FunctionDef) and any(
        compiles(part)
        or any(isinstance(n, ast.Call) and name_of(n.func) in names for n in walk(part))
        for part in node.body
    )


def is_compile(node: ast.AST) -> bool:
    """True for a call of torch.compile."""
    return isinstance(node, ast.Call) and _is_name_of_compile(node.func)


def compiles(node: ast.AST) -> bool:
    """True for an expression with torch.compile in it."""
    return any(map(_is_name_of_compile, walk(node)))


def _is_in_place(node: ast.AST) -> bool:
    """True for `model.compile(...)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "compile"
        and name_of(node.func.value) not in ("torch", "re", "regex")
    )


def _is_name_of_compile(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "compile"  # `from torch import compile`; Python's own makes no function
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "compile"
        and isinstance(node.value, ast.Name)
        and node.value.id == "torch"
    )


def name_of(node: ast.AST) -> str:
    """The name that an expression ends with; "" for one that is no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
