"""Which hooks are taken off again: by what puts them on, its caller, or the class when its block ends."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import nodes_of, uses_of, walk
from breakscope.static.project.modules import ModuleInfo


def _takes_off(outer: ast.stmt | None) -> bool:
    """True where a function calls `remove()` of something, as of the handles of its hooks."""
    return isinstance(outer, ast.FunctionDef) and any(
        type(part) is ast.Call and getattr(part.func, "attr", "") == "remove" and not part.args
        for part in walk(outer)
    )


def takes_itself_off(hook: ast.AST) -> bool:
    """True for a hook that runs in the first call only: it ends with `self.handle.remove()`."""
    match getattr(hook, "body", []):
        case [*_, ast.Expr(ast.Call(ast.Attribute(ast.Attribute(), "remove"), []))]:
            return True
    return False


def is_put_on_briefly(
    module: ModuleInfo, statement: ast.stmt, outer: ast.FunctionDef | None
) -> bool:
    """True where what puts a hook on, or its caller, takes it off again, or the class does when its block ends."""
    return _takes_off(outer) or is_session(statement) or _hands_to_who_takes_off(module, outer)


def is_session(statement: ast.stmt) -> bool:
    """True for a class that takes something off in its `__exit__`, or in a method that this calls."""
    parts = statement.body if isinstance(statement, ast.ClassDef) else []
    methods = {part.name: part for part in parts if isinstance(part, ast.FunctionDef)}
    last = methods.get("__exit__")
    called = {part.attr for part in walk(last) if type(part) is ast.Attribute} if last else set()
    return any(map(_takes_off, (last, *(methods[name] for name in called & methods.keys()))))


def is_named_briefly(module: ModuleInfo, name: str) -> bool:
    """True for a hook that the file names only where something is taken off again, or in the head of a `with`."""
    heads = {
        id(part)
        for block in walk(module.tree)
        if isinstance(block, ast.With)
        for item in block.items
        for part in walk(item.context_expr)
    }
    uses = [
        id(node) in heads or _takes_off(outer)
        for statement in module.tree.body
        for outer, node in nodes_of(statement)
        if name in (getattr(node, "attr", ""), getattr(node, "id", ""))
    ]
    return bool(uses) and all(uses)


def _hands_to_who_takes_off(module: ModuleInfo, outer: ast.FunctionDef | None) -> bool:
    """True for a function of the file, whose callers, all of them functions, take off what it puts on."""
    if outer is None or outer not in module.tree.body:
        return False
    others = [f for f in module.tree.body if isinstance(f, ast.FunctionDef) and f is not outer]
    callers = [f for f in others if uses_of(f, outer.name)]
    return bool(callers) and all(map(_takes_off, callers))
