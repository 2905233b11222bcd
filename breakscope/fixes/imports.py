"""Where a file's imports take one more."""

from __future__ import annotations

import ast
import sys

from msgspec import Struct

from breakscope.fixes.source_file import SourceFile


class Insertion(Struct, frozen=True):
    """`text` goes before line `line`, which begins the statement `index` of the module's body;
    `beside` is a line of the statement that it stands beside."""

    index: int
    line: int
    text: str
    beside: int


def insertions(file: SourceFile, imports: list[str]) -> list[Insertion]:
    """For each import that the file does not have yet, its place: sorted among the imports of the
    same package, else among those of its section (Python's own library, packages, the file's own
    package), else as a section of its own in the first block of imports, else before the first
    statement that is no docstring."""
    present = {name for node in file.tree.body if _is_import(node) for name in _bound(node)}
    found: list[Insertion] = []
    for text in dict.fromkeys(imports):
        node = ast.parse(text).body[0]
        if not _bound(node) <= present:
            present |= _bound(node)
            found.append(_insertion(file, node, text))
    return sorted(found, key=lambda insertion: (insertion.line, _key(_node(insertion.text))))


def _insertion(file: SourceFile, node: ast.stmt, text: str) -> Insertion:
    body = file.tree.body
    block = _first_block(file)
    text = f"{text}{file.newline}"
    same = [index for index in block if _root(body[index]) == _root(node)]
    group = [index for index in block if _section(body[index]) == _section(node)]
    keys = [_key(body[index]) for index in group]
    beside = same or group
    if beside:
        later = [index for index in beside if _key(node) < _key(body[index])]
        if later and (same or keys == sorted(keys)):
            return _before(file, later[0], text)
        return _behind(file, beside[-1], text)
    above = [index for index in block if _section(body[index]) < _section(node)]
    if above:
        return _behind(file, above[-1], file.newline + text)
    if block:
        return _before(file, block[0], text + file.newline)
    first = 0
    while first < len(body) and (_is_docstring(body[first], first) or _is_future(body[first])):
        first += 1
    if first == len(body):
        return _behind(file, first - 1, text)
    # a blank line between an import and what is no import
    return _before(file, first, text + file.newline)


def _before(file: SourceFile, index: int, text: str) -> Insertion:
    node = file.tree.body[index]
    line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    while line > 1 and not _is_import(node) and file.lines[line - 2].lstrip()[:1] == "#":
        if line == 2 or file.lines[line - 2].startswith("#!") or "coding" in file.lines[line - 2]:
            break
        line -= 1  # comments belong to what follows them
    return Insertion(index, line, text, node.lineno)


def _behind(file: SourceFile, index: int, text: str) -> Insertion:
    """Behind a statement, and behind what else stands on its last line."""
    body = file.tree.body
    line = body[index].end_lineno
    while index + 1 < len(body) and body[index + 1].lineno <= line:
        index += 1
        line = body[index].end_lineno
    return Insertion(index + 1, line + 1, text, line)


def _first_block(file: SourceFile) -> list[int]:
    """The module-level imports before the first statement that is something else, those that begin
    a line of their own; without `from __future__`."""
    found = []
    for index, node in enumerate(file.tree.body):
        if _is_import(node):
            if node.col_offset == 0 and not _is_future(node):
                found.append(index)
        elif not (
            _is_docstring(node, index)
            or (not found and isinstance(node, ast.If | ast.Try | ast.Pass))
        ):
            break
    return found


def _node(text: str) -> ast.stmt:
    return ast.parse(text.strip()).body[0]


def _key(node: ast.stmt) -> tuple:
    """`import x` before `from x import y`, then by name."""
    names = tuple((alias.name, alias.asname or "") for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (1, "." * node.level + (node.module or ""), names)
    return (0, names[0][0], names)


def _bound(node: ast.stmt) -> set[tuple]:
    """What an import binds, one by one."""
    module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else None
    return {(module, alias.name, alias.asname) for alias in node.names}


def _section(node: ast.stmt) -> int:
    """0 for Python's own library, 1 for a package, 2 for what is imported relative to the file."""
    root = _root(node)
    return 2 if root == "." else int(root not in sys.stdlib_module_names)


def _root(node: ast.stmt) -> str:
    name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name.partition(".")[0] if not getattr(node, "level", 0) else "."


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_docstring(node: ast.stmt, index: int) -> bool:
    return (
        index == 0
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
