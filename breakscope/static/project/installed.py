"""Which installed packages are followed: those that use torch and that Dynamo does not skip. Of others only what a
region calls.

A package that lies in a folder of installed packages is a library, unless it is under check itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from breakscope import limits
from breakscope.static.project.reads import Kept, Reads

USES_TORCH = rb"(?m)^[ \t]*(?:import|from)[ \t]+torch\b"


class Installed:
    """The installed packages, as far as the program needs them."""

    def __init__(
        self,
        reads: Reads,
        folders: Iterable[str] = (),
        is_left_out: Callable[[str], object] = frozenset().__contains__,
    ) -> None:
        """`folders` are those of the environment; packages that are left out are never read."""
        self._reads = reads
        self.folders = tuple(folders)
        self._is_left_out = is_left_out
        # (import root, top-level package) of the checked files
        self._checked: set[tuple[str, str]] = set()
        self._followed: Kept[bool] = Kept(reads)
        self._installations: Kept[bool] = Kept(reads)

    def check(self, root: str, top: str) -> None:
        """Note that files of this top-level package are under check."""
        self._checked.add((root, top))

    def library_of(self, root: str, module: str) -> str:
        """The installed package that a module belongs to; "" for what is checked, or lies beside
        it."""
        top = module.partition(".")[0]
        return top if (root, top) not in self._checked and self.is_installation(root) else ""

    def is_followed(self, folder: str, top: str, is_entered: bool = False) -> bool:
        """True when the source of a top-level package is read: of an installed one only where torch
        is imported, in its own files or those one folder below, or where a region enters it."""
        if (folder, top) in self._checked or not self.is_installation(folder):
            return True
        if is_entered and not self._is_left_out(top):
            return True
        return self._followed.get((folder, top), lambda: self._uses_torch(folder, top))

    def is_installation(self, folder: str) -> bool:
        """True for a folder that packages are installed in."""
        return self._installations.get(folder, lambda: self._holds_metadata(folder))

    def _holds_metadata(self, folder: str) -> bool:
        return any(name.endswith((".dist-info", ".egg-info")) for name in self._reads.names(folder))

    def _uses_torch(self, folder: str, top: str) -> bool:
        files = () if self._is_left_out(top) else self._files_of(os.path.join(folder, top))
        return any(re.search(USES_TORCH, self._reads.bytes_of(file)) for file in files)

    def _files_of(self, package: str) -> list[str]:
        """Python files of a package, those of its own folder first; its only one, when it is a
        module."""
        names = sorted(self._reads.names(package))
        files = [os.path.join(package, name) for name in names if name.endswith(".py")]
        for name in names:
            if "." not in name and len(files) < limits.MOST_FILES_OF_PACKAGE:
                inner = os.path.join(package, name)
                beside = sorted(self._reads.names(inner))
                files += [os.path.join(inner, file) for file in beside if file.endswith(".py")]
        return files[: limits.MOST_FILES_OF_PACKAGE] or [package + ".py"]
