"""What a `@rule.rewrite` function may return beside a node: a fix that takes more than one place, and
what it is given to find these places.

A rewrite function with a third parameter is given the `Place` of the flagged statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from breakscope.rulekit.walking import all_parameters, begin_of, end_of, uses_of, walk


class Also(Struct, frozen=True):
    """Another statement of the same file that a fix changes: `rewrite(libcst node)` gives the new
    node, or None, and then the whole fix is declined."""

    statement: ast.stmt
    rewrite: Callable[[Any], Any]


class Patch(Struct, frozen=True):
    """A fix: the flagged statement's new node (None where only others change), and all else that it
    needs.

    `imports` are import statements, one each, which the file's imports are to hold. `also` are
    other statements; no two places of a fix may overlap. `changes` is one line on what the fix may
    change, for the report. `safety` is "safe" or "unsafe" where it is not the rule's.
    """

    node: Any
    imports: tuple[str, ...] = ()
    also: tuple[Also, ...] = ()
    changes: str = ""
    safety: str = ""


class Declined(Struct, frozen=True):
    """Returned instead of a node: there is no fix, and `reason` says why, in one line that goes on
    from "no fix: "."""

    reason: str


class Names:
    """The names in a file's functions; each function is read once, for all of the file's fixes."""

    def __init__(self) -> None:
        self._read: dict[ast.AST, dict[str, tuple[ast.Name, ...]]] = {}

    def of(self, function: ast.AST) -> dict[str, tuple[ast.Name, ...]]:
        """By name, where the function has it."""
        if function not in self._read:
            found: dict[str, list[ast.Name]] = {}
            for part in walk(function):
                if isinstance(part, ast.Name):
                    found.setdefault(part.id, []).append(part)
            self._read[function] = {name: tuple(parts) for name, parts in found.items()}
        return self._read[function]


class Place(Struct, frozen=True):
    """Where the flagged statement stands: the file's tree, the statement, the nodes around it,
    outermost first (module, class, function, loops), and the names in the file's functions."""

    tree: ast.Module
    statement: ast.stmt
    parents: tuple[ast.AST, ...]
    names: Names

    @property
    def owner(self) -> ast.ClassDef | None:
        """The innermost class around the statement."""
        return next((n for n in reversed(self.parents) if isinstance(n, ast.ClassDef)), None)

    @property
    def function(self) -> ast.FunctionDef | None:
        """The innermost function around the statement."""
        return next((n for n in reversed(self.parents) if isinstance(n, _FUNCTIONS)), None)

    @property
    def block(self) -> tuple[ast.stmt, ...]:
        """The statements of the block that the statement stands in."""
        for field in ("body", "orelse", "finalbody"):
            found = getattr(self.parents[-1], field, None)
            if isinstance(found, list) and any(inner is self.statement for inner in found):
                return tuple(found)
        return ()

    @property
    def behind(self) -> tuple[ast.stmt, ...]:
        """The statements behind this one in its block."""
        at = [inner is self.statement for inner in self.block]
        return self.block[at.index(True) + 1 :] if True in at else ()

    def only_value_of(self, name: str) -> ast.expr | None:
        """What the function sets a name to, where it does so in one plain assignment."""
        if self.function is None:
            return None
        stores = uses_of(self.function, name, ast.Store)
        values = [
            node.value
            for node in walk(self.function)
            if isinstance(node, ast.Assign) and len(stores) == 1 and node.targets == stores
        ]
        arguments = {node.arg for node in walk(self.function) if isinstance(node, ast.arg)}
        return values[0] if values and name not in arguments else None

    def is_bound_before(self, name: str) -> bool:
        """True when the function gives a name a value above the statement, or takes it as an
        argument; of `self.name`, when the class registers it as a buffer with a tensor."""
        if self.function is None:
            return False
        if name.startswith("self."):
            return self._is_buffer(name.removeprefix("self."))
        if any(argument.arg == name for argument in all_parameters(self.function)):
            return True
        return any(
            part.lineno < self.statement.lineno and isinstance(part.ctx, ast.Store)
            for part in self._named(name)
        )

    def is_only_inside(self, name: str) -> bool:
        """True for a name that the function reads inside the statement and nowhere else."""
        inside = range(self.statement.lineno, self.statement.end_lineno + 1)
        loads = [part for part in self._named(name) if isinstance(part.ctx, ast.Load)]
        return bool(loads) and all(part.lineno in inside for part in loads)

    def _named(self, name: str) -> tuple[ast.Name, ...]:
        return self.names.of(self.function).get(name, ()) if self.function is not None else ()

    def _is_buffer(self, name: str) -> bool:
        return any(
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "self.register_buffer"
            and len(node.args) > 1
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == name
            and isinstance(node.args[1], ast.Call)
            for node in walk(self.owner or self.tree)
        )

    def made_in_init(self, name: str) -> ast.expr | None:
        """What `__init__` of the class sets `self.name` to, where nothing else does."""
        found = [(function, value) for function, value in self.stores_of(name)]
        if len(found) != 1 or found[0][0].name != "__init__":
            return None
        return found[0][1]

    def stores_of(self, name: str) -> list[tuple[ast.FunctionDef, ast.expr | None]]:
        """The functions of the class that set `self.name`, each with the value where it is one."""
        found: list[tuple[ast.FunctionDef, ast.expr | None]] = []
        for function in self.owner.body if self.owner else ():
            if not isinstance(function, _FUNCTIONS):
                continue
            for node in walk(function):
                if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
                    continue
                if node.attr == name and ast.unparse(node.value) == "self":
                    values = [
                        n.value
                        for n in walk(function)
                        if isinstance(n, ast.Assign) and n.targets == [node]
                    ]
                    found.append((function, values[0] if values else None))
        return found


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def place_of(tree: ast.Module, statement: ast.stmt, names: Names | None = None) -> Place:
    """The place of a statement of the tree; `names` are kept for others of the same file."""
    parents: list[ast.AST] = []
    inside: ast.AST | None = tree
    at = begin_of(statement)
    while inside is not None and inside is not statement:
        parents.append(inside)
        inside = _child_around(inside, statement, at)
    return Place(tree, statement, tuple(parents), names or Names())


def _child_around(node: ast.AST, statement: ast.stmt, at: tuple[int, int]) -> ast.AST | None:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        found = getattr(node, field, None)
        for child in found if isinstance(found, list) else ():
            if child is statement or _is_around(child, at):
                return child
    return None


def _is_around(node: ast.AST, at: tuple[int, int]) -> bool:
    last = node.body[-1] if isinstance(node, ast.match_case) else node
    first = node.pattern if isinstance(node, ast.match_case) else node
    start = begin_of(first)
    return start <= at < end_of(last)
