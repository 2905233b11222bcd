"""The usage events of one file: its top level, then every function and method, each followed once by itself."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.static.frames import Activation
from breakscope.static.interpreter import Interpreter
from breakscope.static.program import ModuleInfo
from breakscope.static.regions import Region
from breakscope.static.usage.follow import Follower, OutOfWork
from breakscope.static.usage.frozen import frozen_events
from breakscope.usage import Use
from breakscope.values import Class

USED = frozenset({"compile", "suppress_errors", "assume_constant_result"})


def usage_region(interpreter: Interpreter, module: ModuleInfo) -> Region:
    """The file's usage events, in one activation; empty when the file uses nothing of the kind."""
    activation = Activation("", module, 0)
    if not any(_uses(node) for statement in _speaking(module) for node in ast.walk(statement)):
        return Region("", activation)  # only comments and texts speak of it
    follower = Follower(interpreter, module, activation)
    try:
        follower.top_level()
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                follow_class(follower, node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                follower.function(node, node.name)
    except (OutOfWork, RecursionError):
        interpreter.cut_short = True
    if "assume_constant_result" in module.source:
        frozen_events(follower)
    for step in activation.steps if follower.saves_prefix else ():
        if isinstance(step.event, Use):
            step.event = replace(step.event, saved=True)
    return Region("", activation)


def _speaking(module: ModuleInfo) -> list[ast.stmt]:
    """The top-level statements in whose text one of the words stands."""
    at = [i for i, line in enumerate(module.source_lines(), 1) if any(word in line for word in USED)]
    return [s for s in module.tree.body if any(s.lineno <= line <= s.end_lineno for line in at)]


def _uses(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in USED and not (isinstance(node.value, ast.Name) and node.value.id in ("re", "regex"))
    return isinstance(node, ast.ImportFrom) and node.module == "torch" and any(n.name == "compile" for n in node.names)


def follow_class(follower: Follower, node: ast.ClassDef) -> None:
    """Every method, knowing what `__init__` and the other methods leave on `self`."""
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
    left = {}
    cls = follower.look_up(node.name)
    for method in methods:
        lines = follower.module.source_lines()[method.lineno - 1 : method.end_lineno]
        own = follower.left_on_self(method) if any("compile" in line for line in lines) else {}
        for path, value in own.items():
            sometimes = value.sometimes or method.name not in ("__init__", "__post_init__", "setup", "setUp")
            left.setdefault(path, (follower.maybe(value) if sometimes else value, method))
    is_module = isinstance(cls, Class) and follower.interpreter.is_module_class(cls.info)
    for method in methods:
        known = {path: value for path, (value, setter) in left.items() if setter is not method}
        repeats = is_module and method.name in ("forward", "training_step", "validation_step")
        follower.function(method, f"{node.name}.{method.name}", known, repeats)
