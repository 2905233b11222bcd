"""Walks give what those of `ast` give, whatever the syntax."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from breakscope.rulekit.walking import children, names_in, uses_of, walk

STDLIB = Path(sysconfig.get_paths()["stdlib"])
SYNTAX = """
global_name: int = 1
async def function(a, /, b: int = 1, *rest, c, d=2, **more) -> None:
    global global_name
    {**more, "k": a, 1: b}
    async with a as b, c:
        return [x async for x in a if x if not x]
    f"{a!r:>{b}} {c}" "text"
    try:
        nonlocal_ = lambda *, k, j=1: (yield)
    except* ValueError as e:
        raise e from None
    def inner():
        nonlocal a
        del a[1:2:3, ...], b.c
        import x.y as z
        from . import *
    match a:
        case {"k": 1, **kept} | Point(x=0, y=[_, *tail]) | None as whole if whole:
            pass
        case _:
            pass
class C(Base, metaclass=Meta):
    x = (a := 1) if -a < b <= c and not d else await_
"""


def without_contexts(nodes) -> list[ast.AST]:
    return [node for node in nodes if not isinstance(node, ast.expr_context)]


@pytest.mark.parametrize(
    "source", [SYNTAX, *("argparse.py typing.py dataclasses.py asyncio/base_events.py".split())]
)
def test_what_ast_walks(source):
    tree = ast.parse((STDLIB / source).read_text() if source.endswith(".py") else source)
    assert walk(tree) == without_contexts(ast.walk(tree))
    for node in ast.walk(tree):
        assert children(node) == without_contexts(ast.iter_child_nodes(node))


def test_the_names_in_a_tree():
    tree = ast.parse("a = b + a\ndel c\nd.e = a")
    assert names_in(tree) == {"a", "b", "c", "d"}
    assert names_in(tree, ast.Store) == {"a"}
    assert names_in(tree, ast.Store, ast.Del) == {"a", "c"}
    assert sorted(use.lineno for use in uses_of(tree, "a")) == [1, 1, 3]
    assert sorted(use.lineno for use in uses_of(tree, "a", ast.Load)) == [1, 3]
    assert uses_of(tree, "e") == []
