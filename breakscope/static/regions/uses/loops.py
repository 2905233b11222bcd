"""The dimensions of a parameter that a function's loops go over: Dynamo makes constants of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.walking import walk

HANDING_ON = frozenset({"enumerate", "zip", "reversed", "list", "tuple"})


def looped_dimensions(node: ast.AST, name: str) -> frozenset[int]:
    """The dimensions of `name` that loops and comprehensions of the function go over: `for row in x`,
    `x.unbind(1)`, `range(x.shape[1])`, `b, n = x.shape` with `range(n)`."""
    parts = walk(node)
    sizes = dict(_named_sizes(parts, name))
    over = [part.iter for part in parts if isinstance(part, ast.For | ast.comprehension)]
    return frozenset(dimension for place in over for dimension in _over(place, name, sizes))


def _over(place: ast.expr, name: str, sizes: dict[str, int]) -> Iterator[int]:
    match place:
        case ast.Name(found) if found == name:
            yield 0
        case ast.Call(ast.Name(called), arguments) if called in HANDING_ON:
            for argument in arguments:
                yield from _over(argument, name, sizes)
        case ast.Call(ast.Name("range"), arguments):
            for part in (p for argument in arguments for p in walk(argument)):
                yield from _size(part, name, sizes)
        case ast.Call(ast.Attribute(ast.Name(found), "unbind")) if found == name:
            yield from _given(place)


def _size(part: ast.AST, name: str, sizes: dict[str, int]) -> Iterator[int]:
    """The dimension whose size an expression is."""
    match part:
        case ast.Name(found) if found in sizes:
            yield sizes[found]
        case ast.Call(ast.Name("len"), [ast.Name(found)]) if found == name:
            yield 0
        case ast.Call(ast.Attribute(ast.Name(found), "size")) if found == name:
            yield from _given(part)
        case ast.Subscript(ast.Attribute(ast.Name(found), "shape"), index) if found == name:
            yield from _number(index)


def _given(call: ast.Call) -> Iterator[int]:
    """The dimension that a method is given, the first if none."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    yield from _number(given[0]) if given else (0,)


def _number(node: ast.expr) -> Iterator[int]:
    match node:
        case ast.Constant(int(number)):
            yield number
        case ast.UnaryOp(ast.USub(), ast.Constant(int(number))):
            yield -number


def _named_sizes(parts: list[ast.AST], name: str) -> Iterator[tuple[str, int]]:
    """The names that sizes of the parameter get."""
    for part in parts:
        match part:
            case ast.Assign(
                [ast.Tuple(targets)], ast.Attribute(ast.Name(found), "shape")
            ) | ast.Assign(
                [ast.Tuple(targets)], ast.Call(ast.Attribute(ast.Name(found), "size"), [])
            ) if found == name:
                yield from ((t.id, i) for i, t in enumerate(targets) if isinstance(t, ast.Name))
            case ast.Assign([ast.Name(target)], value):
                yield from ((target, dimension) for dimension in _size(value, name, {}))
