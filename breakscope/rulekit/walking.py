"""The nodes of a tree, in the order of `ast.walk` and `ast.iter_child_nodes`, and many times as
fast."""

from __future__ import annotations

import _ast
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TypeVar

T = TypeVar("T")

NEVER_NODES = frozenset(
    "arg asname attr conversion ctx id is_async kind kwd_attrs level module rest simple type_comment".split()
)
LEAVES = frozenset({_ast.Name, _ast.Constant})
# lists with None or text in them
MIXED = frozenset({_ast.Dict, _ast.arguments, _ast.Global, _ast.Nonlocal})


class _Fields(dict):
    """Kind of node -> those of its fields that hold nodes, contexts left out."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = (
            ()
            if kind in LEAVES
            else tuple(name for name in kind._fields if name not in NEVER_NODES)
        )
        self[kind] = fields
        return fields


FIELDS = _Fields()


def walk(root: _ast.AST) -> list[_ast.AST]:
    """The node and all nodes inside it, outer ones first; without the contexts (`ast.Load`, ...) of
    names."""
    found, fields = [root], FIELDS
    for node in found:  # grows; written out: calls of `children` would take half as long again
        kind = type(node)
        for name in fields[kind]:
            part = getattr(node, name, None)
            if type(part) is list:
                found += part if kind not in MIXED else _nodes(part)
            elif isinstance(part, _ast.AST):
                found.append(part)
    return found


def children(node: _ast.AST) -> list[_ast.AST]:
    """The nodes right inside a node, without contexts."""
    found: list[_ast.AST] = []
    kind = type(node)
    for name in FIELDS[kind]:
        part = getattr(node, name, None)
        if type(part) is list:
            found += part if kind not in MIXED else _nodes(part)
        elif isinstance(part, _ast.AST):
            found.append(part)
    return found


def kept_with_node(find: Callable[..., T]) -> Callable[..., T]:
    """Keep what a function finds of a node with it, or of a class or a function with its node: what
    follows from the text alone, and goes when the tree does."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def kept(of: object, *more: object) -> T:
        found = vars(of if isinstance(of, _ast.AST) else of.node)
        try:
            return found[name]
        except KeyError:
            found[name] = find(of, *more)
            return found[name]

    return kept


def walk_lines(tree: _ast.Module, first: int, last: int) -> list[_ast.AST]:
    """All nodes of the statements at the top of a file that reach into these lines."""
    around = [part for part in tree.body if part.lineno <= last and first <= part.end_lineno]
    return [node for part in around for node in walk(part)]


def names_in(root: _ast.AST, *contexts: type) -> set[str]:
    """The names inside a node; with contexts (`ast.Load`, `ast.Store`, `ast.Del`) those in one of
    them."""
    return {n.id for n in walk(root) if isinstance(n, _ast.Name) and _stands_in(n, contexts)}


def uses_of(root: _ast.AST, name: str, *contexts: type) -> list[_ast.Name]:
    """The same of one name: the nodes."""
    names = [n for n in walk(root) if isinstance(n, _ast.Name) and n.id == name]
    return [n for n in names if _stands_in(n, contexts)]


def nodes_of(statement: _ast.stmt) -> Iterator[tuple[_ast.FunctionDef | None, _ast.AST]]:
    """All that stands in a statement at the top of the file, each with the function or method around it."""
    for part in statement.body if isinstance(statement, _ast.ClassDef) else [statement]:
        outer = part if isinstance(part, _ast.FunctionDef) else None
        for node in walk(part):
            yield outer, node


def gone_over(loop: _ast.For) -> tuple[_ast.expr, _ast.expr]:
    """What a loop goes over, and what an item is called: `xs` and `x` of `for i, x in enumerate(xs)`, too."""
    over, target = loop.iter, loop.target
    if isinstance(over, _ast.Call) and getattr(over.func, "id", "") == "enumerate" and over.args:
        over = over.args[0]
        target = target.elts[1] if isinstance(target, _ast.Tuple) and target.elts[1:] else target
    return over, target


def handed_generator(node: _ast.AST) -> _ast.GeneratorExp | None:
    """The generator expression that a call has as its only argument, as it is or unpacked."""
    if not isinstance(node, _ast.Call) or len(node.args) != 1:
        return None
    given = node.args[0]
    given = given.value if isinstance(given, _ast.Starred) else given
    return given if isinstance(given, _ast.GeneratorExp) else None


def _stands_in(name: _ast.Name, contexts: tuple[type, ...]) -> bool:
    return not contexts or isinstance(name.ctx, contexts)


def is_store(node: _ast.AST) -> bool:
    """True for a name that is set or deleted."""
    return isinstance(node, _ast.Name) and not isinstance(node.ctx, _ast.Load)


def _nodes(part: list) -> list[_ast.AST]:
    return [inner for inner in part if isinstance(inner, _ast.AST)]


def last_name(node: _ast.AST) -> str:
    """`forward` of `forward` and of `model.forward`; "" of what is neither."""
    return getattr(node, "attr", getattr(node, "id", ""))


def begin_of(node: _ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def end_of(node: _ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


Defined = _ast.FunctionDef | _ast.AsyncFunctionDef | _ast.Lambda


def positional_parameters(function: Defined) -> list[_ast.arg]:
    """Those that an argument without a name can be for, `self` among them."""
    return [*function.args.posonlyargs, *function.args.args]


def plain_parameters(function: Defined) -> list[_ast.arg]:
    """All but `*args` and `**kwargs`."""
    return [*positional_parameters(function), *function.args.kwonlyargs]


def all_parameters(function: Defined) -> list[_ast.arg]:
    """Those that a function has in any way."""
    spec = function.args
    return [*plain_parameters(function), *filter(None, (spec.vararg, spec.kwarg))]


def defaults_in(function: Defined) -> Iterator[tuple[_ast.arg, _ast.expr]]:
    """The parameters that have a default, each with it."""
    spec, positional = function.args, positional_parameters(function)
    yield from zip(positional[len(positional) - len(spec.defaults) :], spec.defaults)
    for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults):
        if default is not None:
            yield parameter, default
