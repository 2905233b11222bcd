"""Names that a package shows only to type checkers (`if TYPE_CHECKING: from .models import *`) and loads
when they are read.

The file that defines such a name is found by its text: to run hundreds of modules for one name
would take seconds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from breakscope.static.project.reads import Kept, Reads

STAR = rb"(?m)^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\*"


class Stars:
    """Finds the files behind star imports."""

    def __init__(self, imported: Callable[[str, int, str], str | None], reads: Reads) -> None:
        """`imported(importer, dots, name)` is the file that `from {dots}{name} import` names in the
        importer, or None."""
        self._imported = imported
        self._reads = reads
        self._known: Kept[str | None] = Kept(reads)

    def file_of(self, package: str, name: str) -> str | None:
        """The file that defines `name` at its top level, reached by star imports from the package's
        `__init__.py`."""
        return self._known.get((package, name), lambda: self._search(package, name))

    def _search(self, package: str, name: str) -> str | None:
        """The likely files first: those that share a word with the name."""
        defines = re.compile(
            rb"^(?:(?:class|def)[ \t]+%b\b|%b[ \t]*[:=])" % (os.fsencode(name), os.fsencode(name)),
            re.MULTILINE,
        )
        seen, waiting = {package}, [package]
        while waiting:
            path = waiting.pop()
            data = self._reads.bytes_of(path)
            if path != package and os.fsencode(name) in data and defines.search(data):
                return path
            inner = [
                self._imported(path, len(dots), of.decode(errors="replace"))
                for dots, of in re.findall(STAR, data)
            ]
            fresh = [file for file in dict.fromkeys(inner) if file is not None and file not in seen]
            seen.update(fresh)
            waiting.extend(sorted(fresh, key=lambda file: _resembles(file, name)))
        return None


def _resembles(path: str, name: str) -> bool:
    folder, file = os.path.split(path)
    stem = os.path.basename(folder) if file == "__init__.py" else file.removesuffix(".py")
    return any(
        word in name.lower() for word in (stem.replace("_", ""), *stem.split("_")) if len(word) > 1
    )
