"""Which files a check reads: the named ones, and the Python files of the named folders."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

MOST_PATHS = 10_000  # whose relative form is remembered
MOST_BESIDE = 200  # files in a folder; more are not looked at for the sake of one
DEFINED = rb"\nclass (\w+)"
DERIVED = rb"\nclass \w+\(([^)]*)\)"
IMPORTED = rb"(?m)^(?:from|import)\s+[\w.]*?(\w+)\s*(?:import|as|,|$)"
NEVER = frozenset(
    """
    .git .hg .svn .tox .nox .venv venv __pycache__ node_modules .mypy_cache .ruff_cache .pytest_cache .eggs
    build dist site-packages
    """.split()
)


def python_files(paths: Iterable[str | Path], exclude: tuple[str, ...] = ()) -> Iterator[str]:
    """Absolute paths, each once: named files as they are, folders walked in order without following links to folders.

    Folders leave out hidden and build folders, what `.gitignore` files name, and what matches a glob in `exclude`.
    """
    seen: set[str] = set()
    for path in paths:
        absolute = os.path.abspath(path)
        found = _walk(absolute, exclude) if os.path.isdir(absolute) else [absolute]
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def heirs(named: Iterable[str], checked: frozenset[str]) -> Iterator[str]:
    """The files beside the named ones that derive classes from theirs and that are not checked themselves."""
    folders: dict[str, list[str]] = {}
    for path in named:
        folders.setdefault(os.path.dirname(path), []).append(path)
    for folder, paths in folders.items():
        try:
            beside = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
        except OSError:
            continue
        beside = [path for path in beside if path not in checked]
        if not beside or len(beside) > MOST_BESIDE:
            continue
        known = {_stem(path): set(re.findall(DEFINED, _lines(path))) for path in paths}
        for path in beside:
            source = _lines(path)
            near = {stem: classes for stem, classes in known.items() if stem in source}
            bases = {base for text in re.findall(DERIVED, source) for base in re.findall(rb"\w+", text)} if near else set()
            derived = {stem for stem, classes in near.items() if not classes.isdisjoint(bases)}
            if derived and not derived.isdisjoint(re.findall(IMPORTED, source)):
                yield path


def _lines(path: str) -> bytes:
    """A file's bytes, each line behind a line break: an expression that begins with text is searched for as such."""
    return b"\n" + bytes_of(path)


def _stem(path: str) -> bytes:
    return os.path.basename(path).removesuffix(".py").encode()


def bytes_of(path: str) -> bytes:
    """A file's bytes; none when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


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
                name.endswith(".py")
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
    return any(fnmatch.fnmatch(p, glob) for glob in exclude for p in (relative, here, os.path.basename(path)))


class _Ignored:
    """The `.gitignore` files above and inside a folder; pathspec is imported only when there is one."""

    def __init__(self, top: str) -> None:
        self.specs: list[tuple[str, object]] = []
        folder = top
        while True:
            if os.path.isfile(os.path.join(folder, ".gitignore")) and folder != top:
                self.read(folder)
            if os.path.exists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
                return
            folder = os.path.dirname(folder)

    def read(self, folder: str) -> None:
        import pathspec

        try:
            with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
                self.specs.append((folder, pathspec.GitIgnoreSpec.from_lines(file.read().splitlines())))
        except (OSError, ValueError):
            pass  # an unreadable .gitignore ignores nothing

    def matches(self, path: str, is_folder: bool) -> bool:
        for folder, spec in self.specs:
            if path.startswith(folder + os.sep):
                relative = os.path.relpath(path, folder).replace(os.sep, "/") + ("/" if is_folder else "")
                if spec.match_file(relative):
                    return True
        return False


def relative_path(path: str) -> str:
    """The path from the working directory, with forward slashes; absolute when it lies elsewhere."""
    return _relative(path, os.getcwd())


@lru_cache(MOST_PATHS)
def _relative(path: str, folder: str) -> str:
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return path.replace(os.sep, "/")
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")
