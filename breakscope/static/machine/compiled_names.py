"""What a file's own code calls that is compiled, by name, and which of its functions do so."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from breakscope.rulekit.walking import walk
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.prefilter import COMPILES_OTHERWISE

# the last two parts of the names that compile
COMPILE = frozenset({("torch", "compile"), ("_dynamo", "optimize"), ("dynamo", "optimize")})
OF_OBJECTS = frozenset(
    {"__init__", "__call__", "forward"}
)  # methods that are called by other names

DEFINED = ast.FunctionDef | ast.AsyncFunctionDef


class CompiledNames(NamedTuple):
    """`called` are the names, of attributes too, of what is compiled; `callers` the functions (by `id` of their `def`)
    that compile something, call what is compiled, or call such a function; `dynamic` those under
    `@torch.compile(dynamic=True)`."""

    called: frozenset[str] = frozenset()
    callers: frozenset[int] = frozenset()
    dynamic: tuple[ast.FunctionDef, ...] = ()


# `.compile(` of an object, and not of the modules whose `compile` is another
IN_PLACE = re.compile(rb"(?<!\bre)(?<!\bregex)\.compile\(")
IMPORTED = re.compile(rb"from torch import[^\n]*\bcompile\b")


def may_compile(text: bytes) -> bool:
    """True when a look at a file's text shows that it may compile something."""
    if b"torch" not in text:
        return False
    named = b"compile" in text and (
        b"torch.compile" in text or IN_PLACE.search(text) or IMPORTED.search(text)
    )
    return bool(named or re.search(COMPILES_OTHERWISE, text))


def compiled_names(
    module: ModuleInfo,
    imported: frozenset[str] = frozenset(),
    callers: frozenset[int] = frozenset(),
) -> CompiledNames:
    """The names of a file that were compiled anywhere in it, with those that it has `imported` from files that
    compile, and functions of these that are `callers`."""
    called = {*imported}
    modules = {"torch", "re", "regex"}
    functions, classes, calls, dynamic = [], [], [], []
    for node in walk(module.tree):
        if isinstance(node, DEFINED):
            functions.append(node)
            if any(map(compiles, node.decorator_list)):
                called.add(node.name)
                dynamic += [node] * any(map(_is_dynamic, node.decorator_list))
        elif isinstance(node, ast.ClassDef):
            classes.append(node)
        elif isinstance(node, ast.Assign) and compiles(node.value):
            called |= {name_of(part) for target in node.targets for part in _parts(target)}
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Import):
            modules |= {part.asname or part.name.partition(".")[0] for part in node.names}
    called |= {name_of(call.func.value) for call in calls if _is_in_place(call, modules)}
    called.discard("")
    return CompiledNames(
        frozenset(called),
        _callers(functions, classes, calls, called) | callers,
        tuple(dynamic),
    )


def _parts(target: ast.expr) -> list[ast.expr]:
    """What an assignment binds."""
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _callers(
    functions: list[ast.FunctionDef],
    classes: list[ast.ClassDef],
    calls: list[ast.Call],
    called: set[str],
) -> frozenset[int]:
    """The functions that call what is `called`, or are handed it, as the methods of a class are that is
    made with it; and what calls these."""
    methods = {node.name: _methods(node) for node in classes}
    holders = {
        name
        for name, members in methods.items()
        if any(map(compiles, (d for part in members for d in part.decorator_list)))
    }
    handed_to = {name_of(call.func) for call in calls if _hands_on(call, called)}
    direct = [
        node
        for node in functions
        if node.name in handed_to - OF_OBJECTS or is_caller(node, called | holders)
    ]
    direct += [part for name in handed_to & methods.keys() for part in methods[name]]
    makers = {id(part): name for name, members in methods.items() for part in members}
    derived = {node.name for node in classes if node.bases}
    return _with_their_callers(functions, direct, makers, derived)


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [part for part in node.body if isinstance(part, DEFINED)]


def _hands_on(call: ast.Call, called: set[str]) -> bool:
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(name_of(value) in called or compiles(value) for value in given)


def _is_dynamic(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "dynamic"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in decorator.keywords
    )


def _with_their_callers(
    functions: list[ast.FunctionDef],
    direct: list[ast.FunctionDef],
    makers: dict[int, str],
    derived: set[str],
) -> frozenset[int]:
    """The functions, and those that call one of them by its name, or hand it on to who calls it, through any
    number of calls; a method that Python calls goes by the name of its class, `makers`, and one of a class
    that is `derived`, whose parent may call it, by both."""
    found = {id(node) for node in direct}
    called = {id(node): _called_names(node) for node in functions}
    names = {name for node in direct for name in _known_as(node, makers, derived)}
    while more := [f for f in functions if id(f) not in found and called[id(f)] & names]:
        found |= {id(node) for node in more}
        names |= {name for node in more for name in _known_as(node, makers, derived)}
    return frozenset(found)


def _known_as(node: ast.FunctionDef, makers: dict[int, str], derived: set[str]) -> set[str]:
    maker = makers.get(id(node), "")
    if node.name in OF_OBJECTS:
        return {maker}
    return {node.name, maker} if maker in derived else {node.name}


def _called_names(node: ast.AST) -> set[str]:
    calls = [part for part in walk(node) if isinstance(part, ast.Call)]
    called = {name_of(call.func) for call in calls}
    for call in calls:
        called |= {name_of(value) for value in call.args}
        called |= {name_of(keyword.value) for keyword in call.keywords}
    return called - {""} | set(map(name_of, getattr(node, "decorator_list", ())))


def is_caller(node: ast.AST, names: set[str]) -> bool:
    """True for a function that compiles something, calls what is compiled, or hands it on."""
    return isinstance(node, DEFINED) and any(
        compiles(part) or any(_uses(n, names) for n in walk(part)) for part in node.body
    )


def _uses(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Call) and name_of(node.func) in names


def compiles(node: ast.AST) -> bool:
    """True for an expression with torch.compile in it."""
    return any(map(_is_name_of_compile, walk(node)))


def _is_in_place(call: ast.Call, modules: set[str]) -> bool:
    """True for `model.compile(...)`, and not for the `compile` of a module."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "compile"
        and name_of(call.func.value) not in modules
    )


def _is_name_of_compile(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "compile"  # `from torch import compile`; Python's own makes no function
    if isinstance(node, ast.Call) and name_of(node.func) == "getattr":
        return any(isinstance(a, ast.Constant) and a.value == "compile" for a in node.args)
    owner = name_of(node.value) if isinstance(node, ast.Attribute) else ""
    return bool(owner) and (owner, node.attr) in COMPILE


def name_of(node: ast.AST) -> str:
    """The name that an expression ends with; "" for one that is no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
