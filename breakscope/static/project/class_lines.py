"""What the lines of a file say of its classes, by a look at the text alone."""

from __future__ import annotations

import re

from msgspec import Struct

# each line stands behind a line break: an expression that begins with text is searched for as such
DEFINED = rb"\nclass (\w+)"
DERIVED = rb"\nclass \w+\(([^)]*)\)"
IMPORTED = rb"(?m)^(?:from|import)\s+[\w.]*?(\w+)\s*(?:import|as|,|$)"


class Classes(Struct, frozen=True):
    """The names of a file's classes, the names that stand in their bases, and the last parts of the
    modules that it imports (from)."""

    defined: frozenset[bytes] = frozenset()
    bases: frozenset[bytes] = frozenset()
    imported: frozenset[bytes] = frozenset()


def classes_in(source: bytes) -> Classes:
    """The classes at the top level of a file."""
    source = b"\n" + source
    if b"\nclass " not in source:
        return Classes()
    return Classes(
        frozenset(re.findall(DEFINED, source)),
        frozenset(re.findall(rb"\w+", b" ".join(re.findall(DERIVED, source)))),
        frozenset(re.findall(IMPORTED, source)),
    )
