"""The state of one function, class body or module that is followed for how it uses torch.compile."""

from __future__ import annotations

import ast

from msgspec import Struct

from breakscope.rulekit.usage import Wrapped
from breakscope.rulekit.values import UNKNOWN, Const, Instance, Value


class Local(Value, eq=False):
    """A function of the file, with the scope it was defined in."""

    node: ast.AST
    qualname: str
    scope: Scope | None = None


class Choice(Struct, frozen=True):
    """What a condition decided of a name: `merged` stands for both afterwards."""

    test: str
    merged: Value
    then: Value
    otherwise: Value


class Scope(Struct, eq=False):
    """Names and paths ("model", "self.model") with what they hold, and where the walk is."""

    qualname: str = ""
    outer: Scope | None = None
    names: dict[str, Value] = {}
    # every name that the function binds: a free one is looked up outside
    bound: frozenset[str] = frozenset()
    loops: list[ast.AST] = []
    nesting: list[ast.AST] = []  # the compound statements around, outermost first
    choices: dict[str, Choice] = {}
    returns: list[Value] = []
    inner: list[Local] = []  # functions defined here, followed at the end
    ended: bool = False
    # called again and again, with these parameters always the same
    repeated: frozenset[str] | None = None
    kept: frozenset[str] = frozenset()  # names that the function returns or stores for later


def merge(first: Value, second: Value) -> Value:
    """What a name holds after two paths: of something wrapped on one path only, that it is wrapped
    sometimes."""
    if first is second or _same(first, second):
        return first
    for value, other in ((first, second), (second, first)):
        if isinstance(value, Wrapped):
            both = isinstance(other, Wrapped) and other.name == value.name
            return value if both and other.sometimes else maybe(value)
    return UNKNOWN


def _same(first: Value, second: Value) -> bool:
    if isinstance(first, Wrapped) and isinstance(second, Wrapped):
        return first.node is second.node and first.sometimes == second.sometimes
    return isinstance(first, Const) and first == second


def maybe(value: Wrapped) -> Wrapped:
    """The same thing, wrapped on some paths only."""
    return (
        value
        if value.sometimes
        else Wrapped(value.name, value.target, value.settings, value.node, True)
    )


def merged(
    scope: Scope, test: str, then: dict[str, Value], otherwise: dict[str, Value]
) -> dict[str, Value]:
    """The names after an `if`; remembers what each side made of a name, for the next `if` with the
    same test."""
    names = {}
    for path in then.keys() | otherwise.keys():
        one, two = then.get(path, UNKNOWN), otherwise.get(path, UNKNOWN)
        names[path] = merge(one, two)
        if test and names[path] is not one and isinstance(names[path], Wrapped):
            scope.choices[path] = Choice(test, names[path], one, two)
        elif test and names[path] is not two and isinstance(names[path], Wrapped):
            scope.choices[path] = Choice(test, names[path], one, two)
    return names


def decide(scope: Scope, test: str, truth: bool) -> None:
    """Enter a branch of an `if` whose test has decided names before."""
    negated = test.removeprefix("not ") if test.startswith("not ") else f"not {test}"
    for path, choice in scope.choices.items():
        if scope.names.get(path) is choice.merged and choice.test in (test, negated):
            scope.names[path] = choice.then if truth == (choice.test == test) else choice.otherwise


def key(value: Value) -> object:
    """What makes two arguments the same for a function that is followed."""
    if isinstance(value, Wrapped):
        return (id(value.node), value.sometimes)
    return (
        id(value)
        if isinstance(value, Instance | Local)
        else value
        if isinstance(value, Const)
        else type(value)
    )
