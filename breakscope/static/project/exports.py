"""The functions that a library hands out by name: what its top `__init__.py` imports from a file below,
from one beside it or by way of the packages between them, one by one, with a star or as a namespace.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from breakscope.static.project.reads import Reads
from breakscope.static.project.source import SourceError, decode, parse

DEFINES = re.compile(rb"^(?:[ \t]*(?:def |class )|(?=\w+ *=(?!=)))([A-Za-z]\w*)", re.MULTILINE)
USES_TORCH = re.compile(rb"^[ \t]*(?:from|import)[ \t][\w \t.,]*\btorch", re.MULTILINE)
LISTS = re.compile(rb"^__all__.*?=\s*[\[(](.*?)[\])]", re.MULTILINE | re.DOTALL)


def handed_out(path: str, reads: Reads) -> dict[str, bool]:
    """The public names of the file that each package around it imports at its top level, by themselves or
    with the module or package inside that has them, up to the outermost, and whether each names them; none
    for a file without torch or functions."""
    folder, name = os.path.split(os.path.abspath(path))
    if name == "__init__.py" or not reads.is_package(folder):
        return {}
    data = reads.bytes_of(path)
    if not USES_TORCH.search(data) or b"def " not in data:
        return {}
    known = _defined(data)  # the file's name of each name that the packages have
    listed = LISTS.search(data)  # what a star imports
    starred = known if listed is None else {n: n for n in known if os.fsencode(n) in listed[1]}
    parts = [Part(name.removesuffix(".py"), known, starred)]
    loose: set[str] = set()
    while reads.is_package(folder):
        known = _imported(folder, parts, loose, reads)
        folder, name = os.path.split(folder)
        parts = [Part(f"{name}.{part.name}", part.known, part.starred) for part in parts]
        parts.append(Part(name, known, known))
    return {name: name not in loose for name in known.values()}


class Part(Struct, frozen=True):
    """A module or package as one above it imports it: its dotted name there, the file's name of each
    name of it, and those that a star imports."""

    name: str
    known: dict[str, str]
    starred: dict[str, str]


def _defined(data: bytes) -> dict[str, str]:
    """The public functions and classes of a file, and what else it gives a name."""
    return {name: name for name in map(os.fsdecode, DEFINES.findall(data))}


def _imported(folder: str, parts: list[Part], loose: set[str], reads: Reads) -> dict[str, str]:
    """What the package's `__init__.py` imports from its parts: its own names, each with that of the file.
    Those of the file that a star brings, or the whole file, come to be among the `loose`."""
    front = os.path.join(folder, "__init__.py")
    text = reads.bytes_of(front)
    beside = parts[-1]
    if os.fsencode(beside.name) not in text:
        return {}
    imports, package = _imports_in(text), os.path.basename(folder)
    if _is_namespace(imports, package, beside.name):
        loose.update(beside.known.values())
        return beside.known
    found: dict[str, str] = {}
    for node in imports:
        if not isinstance(node, ast.ImportFrom):
            continue
        for part in parts:
            if (node.level, node.module) not in {(1, part.name), (0, f"{package}.{part.name}")}:
                continue
            for alias in node.names:
                if alias.name == "*":
                    found.update(part.starred)
                    loose.update(part.starred.values())
                elif alias.name in part.known:
                    found[alias.asname or alias.name] = part.known[alias.name]
    return found


@lru_cache(maxsize=64)  # each file of a package asks for those of all packages around it
def _imports_in(text: bytes) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports at the top level of a file; none for one that cannot be read as Python."""
    try:
        body = parse(decode(text), "").body
    except SourceError:
        return ()
    return tuple([node for node in body if isinstance(node, ast.Import | ast.ImportFrom)])


def _is_namespace(imports: Iterable[ast.stmt], package: str, part: str) -> bool:
    """True where a package imports one inside of it as a whole: `import graphs.utils`, `from . import
    utils`. Users call what that one imports by way of it."""
    for node in imports:
        if isinstance(node, ast.Import):
            if any(alias.name == f"{package}.{part}" for alias in node.names):
                return True
        elif isinstance(node, ast.ImportFrom) and (node.level, node.module) in (
            (1, None),
            (0, package),
        ):
            if any(alias.name == part for alias in node.names):
                return True
    return False
