"""The files beside one that derive classes from its own, found by a look at their lines."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from breakscope import limits
from breakscope.static.project.source import bytes_of

# each line stands behind a line break: an expression that begins with text is searched for as such
DEFINED = rb"\nclass (\w+)"
DERIVED = rb"\nclass \w+\(([^)]*)\)"
IMPORTED = rb"(?m)^(?:from|import)\s+[\w.]*?(\w+)\s*(?:import|as|,|$)"


class Classes(Struct, frozen=True):
    """What the lines of a file say of its classes: their names, the names that stand in their
    bases, and the last parts of the modules that it imports (from)."""

    defined: frozenset[bytes] = frozenset()
    bases: frozenset[bytes] = frozenset()
    imported: frozenset[bytes] = frozenset()


class Subclasses:
    """Finds the files with subclasses; each file is looked at once."""

    def __init__(self) -> None:
        self._classes: dict[str, Classes] = {}

    def of(self, path: str) -> list[str]:
        """The files beside one (absolute path) that derive classes from its own, or from those of
        such files."""
        folder = os.path.dirname(path)
        try:
            names = [name for name in sorted(os.listdir(folder)) if name.endswith(".py")]
        except OSError:
            return []
        if len(names) > limits.MOST_FILES_BESIDE:
            return []
        beside = [os.path.join(folder, name) for name in names]
        waiting, found = [path], {}
        while waiting:
            base = waiting.pop()
            stem, defined = os.fsencode(os.path.basename(base)[:-3]), self._of_file(base).defined
            for other in beside:
                if other == path or other in found:
                    continue
                classes = self._of_file(other)
                if stem in classes.imported and not defined.isdisjoint(classes.bases):
                    found[other] = None
                    waiting.append(other)
        return sorted(found)

    def _of_file(self, path: str) -> Classes:
        known = self._classes.get(path)
        if known is None:
            known = self._classes[path] = _classes(b"\n" + bytes_of(path))
        return known


def _classes(source: bytes) -> Classes:
    if b"\nclass " not in source:
        return Classes()
    return Classes(
        frozenset(re.findall(DEFINED, source)),
        frozenset(re.findall(rb"\w+", b" ".join(re.findall(DERIVED, source)))),
        frozenset(re.findall(IMPORTED, source)),
    )
