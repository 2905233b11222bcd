"""The functions that a library hands out by name: what its top `__init__.py` imports from a file beside it.

Imports next to nothing, because the first look at a few files asks too.
"""

from __future__ import annotations

import _ast
import os

ONLY_A_TREE = 0x400  # ast.PyCF_ONLY_AST, without the import of ast


def handed_out(path: str) -> frozenset[str]:
    """The public names that the package around the file imports from it, one by one and at its top level; none for a
    file deeper in the package, and for one without torch or functions."""
    folder, name = os.path.split(os.path.abspath(path))
    front, stem = os.path.join(folder, "__init__.py"), name.removesuffix(".py")
    if name == "__init__.py" or not os.path.isfile(front):
        return frozenset()
    if os.path.isfile(os.path.join(os.path.dirname(folder), "__init__.py")):
        return frozenset()
    text, data = _read(front), _read(path)
    if stem.encode() not in text or b"torch" not in data or b"def " not in data:
        return frozenset()
    try:
        tree = compile(text, front, "exec", flags=ONLY_A_TREE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    beside = {(1, stem), (0, f"{os.path.basename(folder)}.{stem}")}
    return frozenset(
        alias.name
        for part in tree.body
        if type(part) is _ast.ImportFrom and (part.level, part.module) in beside
        for alias in part.names
        if not alias.name.startswith("_")
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
