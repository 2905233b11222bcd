"""Which installed packages are followed: those that use torch and that Dynamo does not skip.

A package that lies in a folder of installed packages is a library, unless it is under check itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from breakscope import limits
from breakscope.environment import names_in
from breakscope.static.project.source import bytes_of

USES_TORCH = rb"(?m)^[ \t]*(?:import|from)[ \t]+torch\b"


class Installed:
    """The installed packages, as far as the program needs them."""

    def __init__(
        self,
        folders: Iterable[str] = (),
        is_left_out: Callable[[str], object] = frozenset().__contains__,
    ) -> None:
        """`folders` are those of the environment; packages that are left out are never read."""
        self.folders = tuple(folders)
        self._is_left_out = is_left_out
        # (import root, top-level package) of the checked files
        self._checked: set[tuple[str, str]] = set()
        self._followed: dict[tuple[str, str], bool] = {}
        self._installations: dict[str, bool] = {}
        # the files that were read to see whether they use torch, and their folders
        self._packages: set[str] = set()

    def check(self, root: str, top: str) -> None:
        """Note that files of this top-level package are under check."""
        self._checked.add((root, top))

    def library_of(self, root: str, module: str) -> str:
        """The installed package that a module belongs to; "" for what is checked, or lies beside
        it."""
        top = module.partition(".")[0]
        return top if (root, top) not in self._checked and self.is_installation(root) else ""

    def is_followed(self, folder: str, top: str) -> bool:
        """True when the source of a top-level package is read: of an installed one only where torch
        is imported, in its own files or those one folder below."""
        if (folder, top) in self._checked or not self.is_installation(folder):
            return True
        known = self._followed.get((folder, top))
        if known is None:
            files = () if self._is_left_out(top) else _files_of(os.path.join(folder, top))
            known = any(re.search(USES_TORCH, bytes_of(file)) for file in files)
            self._followed[folder, top] = known
            self._packages.update(files, map(os.path.dirname, files))
        return known

    def reads(self) -> set[str]:
        """The files and folders that were looked at, with the folders that hold those of an
        environment's Pythons."""
        pythons = [os.path.dirname(os.path.dirname(folder)) for folder in self.folders]
        return {*self.folders, *pythons, *self._installations, *self._packages}

    def is_installation(self, folder: str) -> bool:
        """True for a folder that packages are installed in."""
        known = self._installations.get(folder)
        if known is None:
            known = any(name.endswith((".dist-info", ".egg-info")) for name in names_in(folder))
            self._installations[folder] = known
        return known


def _files_of(package: str) -> list[str]:
    """Python files of a package, those of its own folder first; its only one, when it is a module."""
    names = names_in(package)
    files = [os.path.join(package, name) for name in names if name.endswith(".py")]
    for name in names:
        if "." not in name and len(files) < limits.MOST_FILES_OF_PACKAGE:
            inner = os.path.join(package, name)
            files += [os.path.join(inner, file) for file in names_in(inner) if file.endswith(".py")]
    return files[: limits.MOST_FILES_OF_PACKAGE] or [package + ".py"]
