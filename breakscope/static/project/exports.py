"""The functions that a library hands out by name: what its top `__init__.py` imports from a file,
from one beside it or by way of the packages between them.
"""

from __future__ import annotations

import ast
import os

from breakscope.static.project.reads import Reads
from breakscope.static.project.source import SourceError, decode, parse


def handed_out(path: str, reads: Reads) -> frozenset[str]:
    """The public names of the file that each package around it imports at its top level, one by one or
    with the package inside that does, up to the outermost; none for a file without torch or functions."""
    folder, name = os.path.split(os.path.abspath(path))
    if name == "__init__.py" or "__init__.py" not in reads.names(folder):
        return frozenset()
    data = reads.bytes_of(path)
    if b"torch" not in data or b"def " not in data:
        return frozenset()
    part = name.removesuffix(".py")
    known: dict[str, str] | None = None  # the file's name of each name that the packages have
    while "__init__.py" in reads.names(folder):
        known = _imported(folder, part, known, reads)
        if not known:
            return frozenset()
        folder, part = os.path.split(folder)
    return frozenset(name for name in (known or {}).values() if not name.startswith("_"))


def _imported(folder: str, part: str, known: dict[str, str] | None, reads: Reads) -> dict[str, str]:
    """What the package's `__init__.py` imports from a part of it: its own names, each with that of
    the file. `known` is the same of the part, None for the file itself."""
    front = os.path.join(folder, "__init__.py")
    text = reads.bytes_of(front)
    if os.fsencode(part) not in text:
        return {}
    try:
        tree = parse(decode(text), front)
    except SourceError:
        return {}
    if known is not None and _is_namespace(tree, os.path.basename(folder), part):
        return known
    beside = {(1, part), (0, f"{os.path.basename(folder)}.{part}")}
    return {
        alias.asname or alias.name: alias.name if known is None else known[alias.name]
        for node in tree.body
        if type(node) is ast.ImportFrom and (node.level, node.module) in beside
        for alias in node.names
        if known is None or alias.name in known
    }


def _is_namespace(tree: ast.Module, package: str, part: str) -> bool:
    """True where a package imports one inside of it as a whole: `import graphs.utils`, `from . import
    utils`. Users call what that one imports by way of it."""
    for node in tree.body:
        if type(node) is ast.Import:
            if any(alias.name == f"{package}.{part}" for alias in node.names):
                return True
        elif type(node) is ast.ImportFrom and (node.level, node.module) in (
            (1, None),
            (0, package),
        ):
            if any(alias.name == part for alias in node.names):
                return True
    return False
