"""Where the values of a function go, as far as its names show."""

from __future__ import annotations

import ast
from collections.abc import Set
from copy import copy

from breakscope.rulekit.walking import (
    begin_of,
    children,
    end_of,
    kept_with_node,
    names_in,
    plain_parameters,
    walk,
)

# methods that keep what they are given, and look at nothing of it
KEEPING = frozenset({"append", "add", "extend", "insert", "update", "setdefault", "put"})
USES = (ast.AugAssign, ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.FormattedValue, ast.Subscript, ast.UnaryOp)  # fmt: skip
GATHERING = (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.IfExp, ast.keyword, ast.Slice)
# attributes and methods that say nothing of a tensor's values
SIZES = frozenset({"shape", "size", "ndim", "dim", "numel", "dtype", "device"})
# what gives tensors of other numbers each time, and the name that stands for these
DRAWING = frozenset(
    """
    rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson sample rsample
    uniform_ normal_ exponential_ random_ bernoulli_
    """.split()
)
RANDOM = "*"


def flow_of(function: ast.FunctionDef) -> Flow:
    return _flow_of(function.body[0], function)


@kept_with_node
def _flow_of(first: ast.stmt, function: ast.FunctionDef) -> Flow:
    """Kept with the first statement: a body that was evicted is another one when it is parsed again."""
    return Flow(function)


class Flow:
    """Of one function: which names its values are computed of, and what becomes of them."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.parameters = {p.arg for p in plain_parameters(function)}
        self.parents: dict[int, ast.AST] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.sources: dict[str, set[str]] = {}  # name -> those that its value was computed of
        self.calls: dict[str, set[int]] = {}  # name -> by `id` the calls that these are
        for node in (part for statement in function.body for part in walk(statement)):
            for child in children(node):
                self.parents[id(child)] = node
            if type(node) is ast.Name and type(node.ctx) is ast.Load:
                self.loads.setdefault(node.id, []).append(node)
            elif type(node) in (ast.Assign, ast.AugAssign, ast.For):
                targets = node.targets if type(node) is ast.Assign else [node.target]
                value = node.iter if type(node) is ast.For else node.value
                given, called = names_of_values(value), calls_in(value)
                for name in (n for target in targets for n in names_in(target)):
                    self.sources.setdefault(name, set()).update(given)
                    self.calls.setdefault(name, set()).update(called)

    def comes_of_parameters(
        self, node: ast.expr, fixed: frozenset[str], drawn: Set[int] = frozenset()
    ) -> bool:
        """True for an expression that is computed of what the function was given, but for what is `fixed`, or of
        random numbers, as the calls give that are `drawn`."""
        waiting, seen = [*names_of_values(node)], {*fixed - self.sources.keys()}
        if drawn & calls_in(node):
            return True
        while waiting:
            name = waiting.pop()
            if drawn & self.calls.get(name, set()):
                return True
            if name == RANDOM or (name in self.parameters - {"self"} and name not in seen):
                return True
            if name not in seen:
                seen.add(name)
                waiting += self.sources.get(name, ())
        return False

    def as_far_as(self, end: tuple[int, int] | None) -> Flow:
        """The flow of what stands before a place."""
        if end is None:
            return self
        part = copy(self)
        part.loads = {
            n: [at for at in loads if begin_of(at) < end] for n, loads in self.loads.items()
        }
        return part

    def is_used(self, node: ast.AST, depth: int) -> bool:
        """True where something looks at the value: to keep it, or to return it, is no look."""
        parent = self.parents.get(id(node))
        while isinstance(parent, GATHERING):
            node, parent = parent, self.parents.get(id(parent))
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            return parent.func is node or parent.func.attr not in KEEPING
        if isinstance(parent, ast.If | ast.While | ast.For):
            return node in (getattr(parent, "test", None), getattr(parent, "iter", None))
        if isinstance(parent, USES):
            return True
        if not isinstance(parent, ast.Assign) or depth == 0:
            return False
        if isinstance(node, ast.Subscript) and any(_is_put(node, t) for t in parent.targets):
            return True
        names = {n for t in parent.targets if not isinstance(t, ast.Subscript) for n in _bound(t)}
        return any(
            begin_of(load) >= end_of(parent) and self.is_used(load, depth - 1)
            for name in names
            for load in self.loads.get(name, ())
        )

    def is_gathered_before(self, node: ast.AST, work: ast.AST | None) -> bool:
        """True for a value that waits, in a tuple or the like, while the same statement computes something else."""
        parent = self.parents.get(id(node))
        if work is None or not isinstance(parent, GATHERING):
            return False
        return end_of(node) <= begin_of(work) and self._statement(node) is self._statement(work)

    def is_held_at(self, node: ast.AST, behind: ast.AST) -> bool:
        """True for a value that is still needed at a later place: in the same statement, or by a name that is read
        there or behind it."""
        statement = self._statement(node)
        if statement is None or statement is self._statement(behind):
            return statement is not None
        if not isinstance(statement, ast.Assign):
            return False
        names = {name for target in statement.targets for name in _bound(target)}
        names |= {
            target.value.id
            for target in statement.targets
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        }
        is_plain = self._is_kept(node, statement)
        return is_plain and any(
            begin_of(load) >= begin_of(behind)
            for name in names
            for load in self.loads.get(name, ())
        )

    def is_one_statement(self, node: ast.AST, other: ast.AST) -> bool:
        return self._statement(node) is self._statement(other)

    def is_unpacked(self, node: ast.AST) -> bool:
        """True for a value that several names share."""
        parent = self.parents.get(id(node))
        return isinstance(parent, ast.Assign) and any(
            isinstance(target, ast.Tuple | ast.List) for target in parent.targets
        )

    def is_returned(self, node: ast.AST) -> bool:
        """True for a value in a `return`, or that a name has which a `return` names."""
        statement = self._statement(node)
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            return isinstance(statement, ast.Return)
        targets = statement.targets if type(statement) is ast.Assign else [statement.target]
        names = {name for target in targets for name in _bound(target)}
        loads = (load for name in names for load in self.loads.get(name, ()))
        return any(isinstance(self._statement(load), ast.Return) for load in loads)

    def _is_kept(self, node: ast.AST, statement: ast.stmt) -> bool:
        """True where the statement assigns the value itself, or something that holds it."""
        parent = self.parents.get(id(node))
        while isinstance(parent, GATHERING):
            parent = self.parents.get(id(parent))
        return parent is statement

    def _statement(self, node: ast.AST | None) -> ast.stmt | None:
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parents.get(id(node))
        return node


def _is_put(value: ast.Subscript, target: ast.expr) -> bool:
    """True for `x[mask] = y[mask]`: of tensors, since nothing else is indexed by a mask."""
    return isinstance(target, ast.Subscript) and ast.dump(target.slice) == ast.dump(value.slice)


def names_of_values(node: ast.AST) -> set[str]:
    """The names that an expression has the values of: not those of which it asks for the size only."""
    if type(node) is ast.Attribute and node.attr in SIZES:
        return set()
    if type(node) is ast.Call:
        named = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if named in ("len", *SIZES):
            return set()
        if named in DRAWING:
            return {RANDOM}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        names = names_of_values(node.elt)
        for part in reversed(node.generators):
            names |= {n for test in part.ifs for n in names_of_values(test)}
            own = _bound(part.target)
            names = names - own | (names_of_values(part.iter) if names & own else set())
        return names
    if type(node) is ast.Name:
        return {node.id}
    return {name for child in children(node) for name in names_of_values(child)}


def calls_in(node: ast.AST) -> set[int]:
    """By `id`: the calls in an expression."""
    return {id(part) for part in walk(node) if type(part) is ast.Call}


def _bound(target: ast.expr) -> set[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}
