"""The functions that a library hands out by name: what its top `__init__.py` imports from a file
beside it.
"""

from __future__ import annotations

import ast
import os

from breakscope.static.project.reads import Reads
from breakscope.static.project.source import SourceError, decode, parse


def handed_out(path: str, reads: Reads) -> frozenset[str]:
    """The public names that the package around the file imports from it, one by one and at its top
    level; none for a file deeper in the package, and for one without torch or functions."""
    folder, name = os.path.split(os.path.abspath(path))
    front, stem = os.path.join(folder, "__init__.py"), name.removesuffix(".py")
    if name == "__init__.py" or "__init__.py" not in reads.names(folder):
        return frozenset()
    if "__init__.py" in reads.names(os.path.dirname(folder)):
        return frozenset()
    text, data = reads.bytes_of(front), reads.bytes_of(path)
    if os.fsencode(stem) not in text or b"torch" not in data or b"def " not in data:
        return frozenset()
    try:
        tree = parse(decode(text), front)
    except SourceError:
        return frozenset()
    beside = {(1, stem), (0, f"{os.path.basename(folder)}.{stem}")}
    return frozenset(
        alias.name
        for part in tree.body
        if type(part) is ast.ImportFrom and (part.level, part.module) in beside
        for alias in part.names
        if not alias.name.startswith("_")
    )
