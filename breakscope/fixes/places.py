"""Which files may be rewritten: those that were asked for, that are the project's own, and that may
be written."""

from __future__ import annotations

import os
import stat
import sysconfig
from collections.abc import Iterable

from breakscope.environment import PROJECT_FILES
from breakscope.source_roots import is_below

INSTALLED = frozenset({"site-packages", "dist-packages"})


class Places:
    """The files that a command was asked to rewrite."""

    def __init__(self, asked: Iterable[str], environment: Iterable[str]) -> None:
        """`asked` are absolute paths of files, `environment` the folders of what is installed."""
        self.asked = frozenset(asked)
        standard = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")]
        installed = [folder for folder in environment if INSTALLED & set(_parts(folder))]
        self._installed = [os.path.realpath(folder) for folder in (*standard, *installed)]

    def refusal(self, path: str) -> str:
        """Why a file (absolute path) is not rewritten; "" for one that may be. The text goes on from
        the file's name."""
        if path not in self.asked:
            return "is none of the files that were asked for"
        real = os.path.realpath(path)
        if (INSTALLED & set(_parts(real))) or any(is_below(real, f) for f in self._installed):
            return "is an installed package's, not the project's"
        if os.path.islink(path) and not is_below(real, project_of(path)):
            return f"is a link that leads out of the project, to {real}"
        try:
            found = os.stat(real)
        except OSError as problem:
            return f"cannot be read: {problem.strerror}"
        if not stat.S_ISREG(found.st_mode):
            return "is no regular file"
        if not found.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            return "is read-only"
        if not os.access(real, os.W_OK) or not os.access(os.path.dirname(real), os.W_OK):
            return "may not be written"
        return ""


def project_of(path: str) -> str:
    """The innermost folder above a file that looks like a project's top; else the file's folder."""
    own = folder = os.path.dirname(path)
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in PROJECT_FILES):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return own
        folder = above


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")
