"""Which modules the files still to come will import from: what none of them needs can be dropped when a folder is done."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Set

from breakscope.static.files import bytes_of

FROM = rb"from(?<!\Sfrom)[ \t]+(\.*)([\w.]*)[ \t]+import\b"


class Importers:
    """The folders that import from each module and have not been analysed yet, read from the text of the files."""

    def __init__(self, files: Iterable[str], path_of) -> None:
        """`path_of(importer, dots, name)` is the file that `from {dots}{name} import` names in the importer, or None."""
        self._waiting: dict[str, set[str]] = {}
        self._wanted: dict[str, set[str]] = {}
        for file in files:
            folder = os.path.dirname(file)
            for dots, name in set(re.findall(FROM, bytes_of(file))):
                path = path_of(file, len(dots), name.decode(errors="replace"))
                if path is not None and os.path.dirname(path) != folder:
                    self._waiting.setdefault(path, set()).add(folder)
                    self._wanted.setdefault(folder, set()).add(path)
        self._parsed: set[str] = set()  # of the modules that are waited for, when the next folder was last asked for
        self._missing = defaultdict(int, {folder: len(paths) for folder, paths in self._wanted.items()})

    def done(self, folder: str) -> None:
        """The files of this folder have been analysed."""
        for path in self._wanted.pop(folder, ()):
            self._waiting[path].discard(folder)

    def next_folder(self, folders: Iterable[str], parsed: Set[str]) -> str:
        """The folder that needs the fewest modules which are not parsed now; the first of them when there are several."""
        now = parsed & self._waiting.keys()
        for paths, step in ((now - self._parsed, -1), (self._parsed - now, 1)):
            for folder in (folder for path in paths for folder in self._waiting[path]):
                self._missing[folder] += step
        self._parsed = now
        return min(folders, key=self._missing.__getitem__)

    def waiting_for(self, path: str) -> int:
        """How many folders will still import from a module."""
        return len(self._waiting.get(path, ()))
