"""The files of a look: the checked one, and those of the same project that it imports from.

Finds them as the analyzer does: beside the file's topmost package, then in the folders of the environment. Packages
that are installed there are not read; what the file takes from them is not known.
"""

from __future__ import annotations

import os
import sys

from breakscope.environment import import_folders, names_in
from breakscope.exports import ONLY_A_TREE
from breakscope.glance import is_clever
from breakscope.plain.kinds import NotPlain
from breakscope.plain.reach import reached

MOST_BYTES = 80_000  # of files that are read beside the checked one
KNOWN = frozenset({"torch", "numpy"})  # the analyzer never reads their source


class Files:
    """What all files of a look have in common."""

    def __init__(self, path: str = "") -> None:
        self.path = os.path.abspath(path) if path else ""
        self.sources: dict[str, object] = {}
        self.stored: dict[str, set] = {}  # attribute -> the functions that set it on something; None is a file's top
        self.of_self: dict = {}  # (method, attribute) -> its class, where it sets it on nothing but its own object
        self.method_of: dict = {}  # method -> its class
        self.homes: dict = {}  # function -> the Source that has it
        self.bytes_read = 0
        self._folders: dict[str, frozenset[str]] = {}
        self._elsewhere: tuple[list[str], frozenset[str]] | None = None
        self._reached: tuple[int, frozenset] = (0, frozenset())
        self.name, self.root = self.place(self.path) if path else ("", "")

    def place(self, path: str) -> tuple[str, str]:
        """(dotted module name, import root) of a file."""
        folder, name = os.path.split(path)
        parts = [] if name == "__init__.py" else [name.removesuffix(".py")]
        while "__init__.py" in self.listing(folder) and os.path.dirname(folder) != folder:
            folder, last = os.path.split(folder)
            parts.insert(0, last)
        return ".".join(parts), folder

    def listing(self, folder: str) -> frozenset[str]:
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = frozenset(names_in(folder))
        return found

    def reached(self) -> frozenset:
        """The functions that the analyzer may run."""
        if self._reached[0] != len(self.sources):
            self._reached = len(self.sources), reached([source.tree for source in self.sources.values()])
        return self._reached[1]

    def is_here(self, package: str) -> bool:
        """True for a package whose source the analyzer reads as the project's own."""
        if not self.root or package in KNOWN:
            return False
        if _has(self.listing(self.root), package):
            return True
        if package in sys.stdlib_module_names:
            return False
        return any(_has(self.listing(folder), package) for folder in self.elsewhere()[0])

    def is_outside(self, package: str) -> bool:
        """True for a package of which the analyzer reads no source."""
        if package in KNOWN:
            return True
        if not self.root or self.is_here(package):
            return False
        return package in sys.stdlib_module_names or package not in self.elsewhere()[1]

    def elsewhere(self) -> tuple[list[str], frozenset[str]]:
        """The import folders that hold a project, and the names in those that packages are installed in."""
        if self._elsewhere is None:
            projects, installed = [], set()
            for folder in import_folders():
                names = self.listing(folder)
                if any(name.endswith((".dist-info", ".egg-info")) for name in names):
                    installed.update(name.partition(".")[0] for name in names)
                else:
                    projects.append(folder)
            self._elsewhere = projects, frozenset(installed)
        return self._elsewhere

    def module(self, name: str):
        """The Source of a module of the project, by its absolute dotted name; None when no file has it."""
        top = name.partition(".")[0]
        for root in (self.root, *(self.elsewhere()[0] if top not in self.listing(self.root) else ())):
            path = os.path.join(root, *name.split("."))
            folder, last = os.path.split(path)
            if "__init__.py" in self.listing(path):
                return self.source(os.path.join(path, "__init__.py"))
            if last + ".py" in self.listing(folder):
                return self.source(path + ".py")
        return None

    def source(self, path: str):
        found = self.sources.get(path)
        if found is None:
            from breakscope.plain.source import Source

            with open(path, "rb") as file:
                data = file.read()
            self.bytes_read += len(data)
            if self.bytes_read > MOST_BYTES:
                raise NotPlain
            tree = compile(data, path, "exec", flags=ONLY_A_TREE, dont_inherit=True)
            found = Source(tree, is_clever(data), self, path)
        return found


def _has(names: frozenset[str], package: str) -> bool:
    return package in names or package + ".py" in names
