"""What the source around a guard says of the guarded name: whether a test decides by it, a loop counts by it, or a
layer is chosen by it, and where it is set."""

from __future__ import annotations

import ast

from breakscope.dynamic.observations.facts import RecompileSeen
from breakscope.dynamic.observations.guards.families import Guard
from breakscope.dynamic.observations.guards.names import readable
from breakscope.dynamic.source_text import SourceFile

OF_LAYERS = "torch/nn/modules/container.py"  # what indexes a ModuleList, and slices one


def decides(guard: Guard) -> bool:
    """A test of the guarded name stands in the function of the line that Dynamo names for the guard: that line
    may be another that reads it before."""
    name = readable(guard.name)
    around = SourceFile.read(guard.path).enclosing(guard.line) if guard.path else []
    functions = [
        node for node in around if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    tests = [
        node.test
        for statement in (functions or around)[-1:]
        for node in ast.walk(statement)
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert))
    ]
    return any(ast.unparse(node) == name for test in tests for node in ast.walk(test))


def counts_a_loop(guard: Guard) -> bool:
    """The line that Dynamo names for the guard is a loop over a `range` of the guarded number, which
    is unrolled, so that each number is a version."""
    if guard.family != "int_argument" or not guard.path:
        return False
    name = readable(guard.name)
    loops = [
        node.iter
        for statement in SourceFile.read(guard.path).enclosing(guard.line)[-1:]
        for node in ast.walk(statement)
        if isinstance(node, (ast.For, ast.comprehension)) and node.iter.lineno == guard.line
    ]
    return any(
        isinstance(loop, ast.Call)
        and ast.unparse(loop.func) == "range"
        and any(ast.unparse(node) == name for part in loop.args for node in ast.walk(part))
        for loop in loops
    )


def picks_a_layer(guard: Guard) -> bool:
    """The line that Dynamo names for the guard calls one of several modules by the guarded number, or goes over so
    many: `self.layers[n](x)`, `for layer in self.layers[:n]`. Each number is a version."""
    if guard.family != "int_argument" or not guard.path:
        return False
    if guard.path.endswith(OF_LAYERS):
        return True
    name = readable(guard.name)
    nodes = [
        node
        for statement in SourceFile.read(guard.path).enclosing(guard.line)[-1:]
        for node in ast.walk(statement)
    ]
    picked = [node.func for node in nodes if isinstance(node, ast.Call)]
    picked += [node.iter for node in nodes if isinstance(node, (ast.For, ast.comprehension))]
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Attribute)
        and any(ast.unparse(node) == name for node in ast.walk(part.slice))
        for part in picked
    )


def is_own(seen: RecompileSeen) -> bool:
    """The attribute is stored in `__init__` and nowhere else in the files that the program is known
    to have: instances differ in it, no instance changes it."""
    owner, _, attribute = readable(seen.guard.name).rpartition(".")
    if owner.partition(".")[0] != "self" or not attribute.isidentifier():
        return False
    stores = [
        inside
        for path in dict.fromkeys((seen.frame.path, *(f.path for f in seen.frame.stack)))
        for inside in _stores(path, attribute)
    ]
    return bool(stores) and all(name in ("__init__", "__post_init__") for name in stores)


def _stores(path: str, attribute: str) -> list[str]:
    """The functions of a file that store an attribute of this name; "" outside of functions."""
    found: list[str] = []

    def look(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = (
                child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else inside
            )
            if (
                isinstance(child, ast.Attribute)
                and child.attr == attribute
                and isinstance(child.ctx, ast.Store)
            ):
                found.append(inside)
            look(child, name)

    tree = SourceFile.read(path).tree
    if tree is not None:
        look(tree, "")
    return found
