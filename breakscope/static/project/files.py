"""Which files a check reads: the named ones, and the Python files and notebooks
of the named folders."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from breakscope import limits
from breakscope.reading import Unreadable, read_file

NOTEBOOK = ".ipynb"
CHECKED = (".py", NOTEBOOK)
WILDCARDS = r"(?<!\\)\*+"
NEVER = frozenset(
    """
    .git .hg .svn .tox .nox .venv venv __pycache__ node_modules .mypy_cache .ruff_cache .pytest_cache .eggs
    build dist site-packages
    """.split()
)


def is_notebook(path: str) -> bool:
    return path.endswith(NOTEBOOK)


def python_files(
    paths: Iterable[str | os.PathLike[str]], exclude: tuple[str, ...] = ()
) -> Iterator[str]:
    """Absolute paths, each once: named files as they are, folders walked in order without following
    links to folders.

    Folders leave out hidden and build folders, what `.gitignore` files name, and what matches a
    glob in `exclude`.
    """
    seen: set[str] = set()
    for path in paths:
        absolute = os.path.abspath(path)
        found = _walk(absolute, exclude) if os.path.isdir(absolute) else [absolute]
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _walk(top: str, exclude: tuple[str, ...]) -> Iterator[str]:
    ignored = _Ignored(top)
    for folder, folders, files in os.walk(top):
        if ".gitignore" in files:
            ignored.read(folder)
        folders[:] = sorted(
            f
            for f in folders
            if f not in NEVER
            and not f.startswith(".")
            and not ignored.matches(os.path.join(folder, f), True)
            and not _excluded(os.path.join(folder, f), top, exclude)
        )
        for name in sorted(files):
            path = os.path.join(folder, name)
            if (
                name.endswith(CHECKED)
                and not _excluded(path, top, exclude)
                and not ignored.matches(path, False)
                and os.path.isfile(path)
            ):
                yield path


def _excluded(path: str, top: str, exclude: tuple[str, ...]) -> bool:
    if not exclude:
        return False
    relative = os.path.relpath(path, top).replace(os.sep, "/")
    here = os.path.relpath(path).replace(os.sep, "/")
    return any(
        fnmatch.fnmatch(p, glob.rstrip("/"))
        for glob in exclude
        for p in (relative, here, os.path.basename(path))
    )


class _Ignored:
    """The `.gitignore` files above and inside a folder; pathspec is imported only when there is
    one. A folder that was asked for by name is looked into although a file above ignores it."""

    def __init__(self, top: str) -> None:
        self.specs: list[tuple[str, object]] = []
        folder = top
        while True:
            if os.path.isfile(os.path.join(folder, ".gitignore")) and folder != top:
                self.read(folder)
            if os.path.exists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
        if self.matches(top, True):
            self.specs = []

    def read(self, folder: str) -> None:
        import pathspec

        try:
            text = read_file(os.path.join(folder, ".gitignore")).decode("utf-8", "replace")
            lines = [line for line in text.splitlines() if _is_matchable(line)]
            self.specs.append((folder, pathspec.GitIgnoreSpec.from_lines(lines)))
        except (Unreadable, ValueError):
            pass  # an unreadable .gitignore ignores nothing

    def matches(self, path: str, is_folder: bool) -> bool:
        for folder, spec in self.specs:
            if path.startswith(folder + os.sep):
                relative = os.path.relpath(path, folder).replace(os.sep, "/") + (
                    "/" if is_folder else ""
                )
                if spec.match_file(relative):
                    return True
        return False


def _is_matchable(line: str) -> bool:
    """False for a line with so many wildcards that to match it takes a name's length to their
    power; what it names is checked."""
    return len(re.findall(WILDCARDS, line)) <= limits.MOST_WILDCARDS


def relative_path(path: str) -> str:
    """The path from the working directory, with forward slashes; absolute when it lies elsewhere."""
    return _relative(path, os.getcwd())


@lru_cache(limits.MOST_RELATIVE_PATHS)
def _relative(path: str, folder: str) -> str:
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return path.replace(os.sep, "/")
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")
