"""The usage events of one file: its top level, then every function and method, each followed once
by itself."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.usage import Use
from breakscope.rulekit.values import Class
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import is_module_class
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.gaps import TOO_MUCH_WORK, why
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.spans import start_of
from breakscope.static.regions.region import Region
from breakscope.static.usage.follow import USE, Follower, OutOfWork
from breakscope.static.usage.frozen import frozen_events
from breakscope.static.usage.scope import maybe
from breakscope.static.usage.state import State

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
USED = frozenset({"compile", "suppress_errors", "assume_constant_result"})


def usage_region(machine: Machine, module: ModuleInfo) -> Region:
    """The file's usage events, in one activation; empty when the file uses nothing of the kind."""
    activation = Activation("", module, 0)
    if not any(_uses(node) for node in _speaking(module)):
        return Region("", activation)  # only comments and texts speak of it
    state = State(machine, module, activation)
    follower = Follower(state)
    try:
        follower.top_level()
        concerned = _concerned(module)
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and node in concerned:
                follow_class(follower, node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node in concerned:
                follower.function(node, node.name)
        if "assume_constant_result" in module.source:
            frozen_events(state)
    except OutOfWork:
        follower.give_up(f"{USE} {TOO_MUCH_WORK}", state.running)
    except Exception as problem:
        follower.give_up(why(problem, USE), state.running)
    for step in activation.steps if state.saves_prefix else ():
        if isinstance(step.event, Use):
            step.event = replace(step.event, saved=True)
    return Region("", activation)


def _concerned(module: ModuleInfo) -> set[ast.stmt]:
    """The statements at the top of the file that speak of wrapping, or name what one of these
    defines or assigns. What the others get from these as an argument is followed from there."""
    lines = _lines_with_a_word(module)
    waiting = {
        s: {getattr(part, "id", getattr(part, "attr", "")) for part in walk(s)}
        for s in module.tree.body
    }
    names: set[str] = set()
    found: set[ast.stmt] = set()
    while fresh := [
        s for s, used in waiting.items() if _is_on_any(s, lines) or not used.isdisjoint(names)
    ]:
        found.update(fresh)
        for statement in fresh:
            del waiting[statement]
            names.update(_bound_by(statement))
    return found


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of the file binds."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
        return
    for part in walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.alias):
            yield part.asname or part.name
        elif isinstance(part, DEFINITIONS):
            yield part.name


def _lines_with_a_word(module: ModuleInfo) -> list[int]:
    """The numbers of the lines on which one of the words stands outside of comments."""
    lines = module.source_lines()
    suspects = [i for i, line in enumerate(lines, 1) if any([word in line for word in USED])]
    return [i for i in suspects if not lines[i - 1].lstrip().startswith("#")]


def _speaking(module: ModuleInfo) -> Iterator[ast.AST]:
    """The nodes on such lines, and the parts of those."""
    at = _lines_with_a_word(module)
    waiting: list[ast.AST] = list(module.tree.body) if at else []
    while waiting:
        node = waiting.pop()
        if _is_on_any(node, at):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _is_on_any(node: ast.AST, lines: list[int]) -> bool:
    """True when the node, its decorators included, stands on one of the lines (ascending); parts
    without a place count."""
    if not hasattr(node, "lineno"):
        return True
    first = start_of(node, [])[0] if isinstance(node, ast.stmt) else node.lineno
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= node.end_lineno


def _uses(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in USED and not (
            isinstance(node.value, ast.Name) and node.value.id in ("re", "regex")
        )
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == "torch"
        and any(n.name == "compile" for n in node.names)
    )


def follow_class(follower: Follower, node: ast.ClassDef) -> None:
    """Every method, knowing what `__init__` and the other methods leave on `self`."""
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
    left = {}
    cls = follower.state.look_up(node.name)
    for method in methods:
        lines = follower.state.module.source_lines()[method.lineno - 1 : method.end_lineno]
        own = follower.left_on_self(method) if any("compile" in line for line in lines) else {}
        for path, value in own.items():
            sometimes = value.sometimes or method.name not in (
                "__init__",
                "__post_init__",
                "setup",
                "setUp",
            )
            left.setdefault(path, (maybe(value) if sometimes else value, method))
    is_module = isinstance(cls, Class) and is_module_class(follower.state.machine, cls.info)
    for method in methods:
        known = {
            path: value
            for path, (value, setter) in left.items()
            if setter is not method and not _is_called_before(methods, method, setter)
        }
        repeats = is_module and method.name in ("forward", "training_step", "validation_step")
        follower.function(method, f"{node.name}.{method.name}", known, repeats)


def _is_called_before(
    methods: list[ast.FunctionDef | ast.AsyncFunctionDef], method: ast.AST, setter: ast.AST
) -> bool:
    """True for a private method that only methods of the class call, each before it calls the setter."""
    if not method.name.startswith("_") or method.name.startswith("__"):
        return False
    lines = [(_lines_of_calls(m, method.name), _lines_of_calls(m, setter.name)) for m in methods]
    called = [(first, then) for first, then in lines if first]
    return bool(called) and all(then and max(first) < min(then) for first, then in called)


def _lines_of_calls(method: ast.AST, name: str) -> list[int]:
    """The lines in which a method calls another one of its object."""
    return [
        part.lineno
        for part in walk(method)
        if type(part) is ast.Call
        and type(part.func) is ast.Attribute
        and part.func.attr == name
        and getattr(part.func.value, "id", "") == "self"
    ]
