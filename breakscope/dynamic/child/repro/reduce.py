"""Makes a program smaller, as long as it still shows what it must show.

A program is changed at one place of its tree after the other, the largest changes first: statements
go, blocks are replaced by what they hold, expressions by one of their parts. What no longer shows it
is put back.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

BODIES = ("body", "orelse", "finalbody", "handlers")
UNWRAPPED = (ast.For, ast.While, ast.With, ast.If, ast.Try)


def reduced(source: str, shows: Callable[[str], bool], has_time: Callable[[], bool]) -> str:
    """The smallest source that was found. `shows` decides; when `has_time` no longer holds, what
    was found until then is the answer."""
    tree, text = ast.parse(source), ""
    while ast.unparse(tree) != text and has_time():
        text = ast.unparse(tree)
        for changes in (_without_statements, _unwrapped, _with_smaller_expressions):
            tree = _changed(tree, changes, shows, has_time)
    return ast.unparse(tree)


# changes one place of a tree, by its number, in place; False when there is no such place
Change = Callable[[ast.AST, int], bool]


def _changed(
    tree: ast.Module,
    changes: Callable[[ast.Module], Iterator[Change]],
    shows: Callable[[str], bool],
    has_time: Callable[[], bool],
) -> ast.Module:
    for change in changes(tree):
        number = 0
        while has_time():
            other = copy.deepcopy(tree)
            if not change(other, number):
                break
            ast.fix_missing_locations(other)
            if _can_be_read(other) and shows(ast.unparse(other)):
                tree = other  # the next place has this number now
            else:
                number += 1
    return tree


def _can_be_read(tree: ast.Module) -> bool:
    try:
        compile(ast.unparse(tree), "", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _without_statements(tree: ast.Module) -> Iterator[Change]:
    """Runs of statements, from half of a block down to single ones."""
    longest = max((len(block) for _, _, block in _blocks(tree)), default=0)
    size = longest
    while size:
        yield _without_run(size)
        size //= 2


def _without_run(size: int) -> Change:
    def change(tree: ast.AST, number: int) -> bool:
        for owner, name, block in _blocks(tree):
            runs = -(-len(block) // size) if len(block) >= size else 0
            if number >= runs:
                number -= runs
                continue
            last = len(block) - number * size  # from the end: what is used stands before its use
            rest = block[: max(0, last - size)] + block[last:]
            needs_one = name == "body" or (name == "handlers" and not owner.finalbody)
            setattr(owner, name, rest or ([ast.Pass()] if needs_one and name == "body" else rest))
            return True
        return False

    return change


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list]]:
    """The blocks of statements, the outermost first; one `pass` is as small as a block gets."""
    for node in ast.walk(tree):
        for name in BODIES:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and not _is_pass(block):
                yield node, name, block


def _is_pass(block: list) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Pass)


def _unwrapped(tree: ast.Module) -> Iterator[Change]:
    yield _unwrap


def _unwrap(tree: ast.AST, number: int) -> bool:
    """A block that is executed under a condition, in a loop or in a context: its statements alone."""
    for _, _, block in _blocks(tree):
        for index, statement in enumerate(block):
            if isinstance(statement, UNWRAPPED):
                if not number:
                    block[index : index + 1] = statement.body
                    return True
                number -= 1
    return False


def _with_smaller_expressions(tree: ast.Module) -> Iterator[Change]:
    yield _without_part
    yield _replace_by_part


def _without_part(tree: ast.AST, number: int) -> bool:
    """Without a decorator, an argument or a keyword, a base class, an annotation or a default."""
    for node in ast.walk(tree):
        for owner, name in _lists(node):
            items = getattr(owner, name)
            if number < len(items):
                del items[number]
                return True
            number -= len(items)
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None and not isinstance(node, ast.AnnAssign):
                if not number:
                    setattr(node, name, None)
                    return True
                number -= 1
    return False


def _lists(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node, "decorator_list"
    if isinstance(node, ast.Call):
        yield node, "keywords"
        yield node, "args"
    if isinstance(node, (ast.Import, ast.ImportFrom)) and len(node.names) > 1:
        yield node, "names"


def _replace_by_part(tree: ast.AST, number: int) -> bool:
    """An operation by one of its operands, a call by its first argument or by the object whose method
    it is."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for index, item in enumerate(items):
                parts = _parts(item)
                if number >= len(parts):
                    number -= len(parts)
                    continue
                if isinstance(value, list):
                    value[index] = parts[number]
                else:
                    setattr(node, name, parts[number])
                return True
    return False


def _parts(node: object) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Call):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*(a for a in node.args[:1] if not isinstance(a, ast.Starred)), *owner]
    return []
