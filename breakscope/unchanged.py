"""Files that were found clean before and are the same as then, with everything that the check read.

When a check of files has nothing to say, the states of all files and folders that its answer depends on are kept in the
user's cache, and the same command is answered from there until one of them changes. `BREAKSCOPE_NO_CACHE=1` turns that off.

Imports next to nothing, because every check of a few files asks here first.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterable

from breakscope import __version__
from breakscope.cache import cache_folder, number, state, write_over

SWITCHES = ("BREAKSCOPE_NO_CACHE", "BREAKSCOPE_DEBUG")
ENVIRONMENT = ("VIRTUAL_ENV", "CONDA_PREFIX")  # where packages are found, see environment.py
SLOTS = 509  # checks that are kept at most: a new one takes the place of an old one
MOST_BYTES = 400_000  # of the checked files
SETTLED = 2 * 10**9  # nanoseconds: what changed less long ago may change again without another time stamp


def is_unchanged(paths: tuple[str, ...]) -> bool:
    """True when these files were found clean and nothing that the check read has changed since."""
    if any(map(os.environ.get, SWITCHES)):
        return False
    try:
        key = _key(paths)
        with open(_slot(key), "rb") as file:
            kept, checked, states = marshal.load(file)
        return kept == key and all(_bytes(p) == b for p, b in checked.items()) and all(state(p) == s for p, s in states.items())
    except (OSError, EOFError, ValueError, TypeError):  # there is none, it is damaged, or a file is gone
        return False


def keep(paths: tuple[str, ...], reads: Iterable[str], began: int) -> None:
    """Remember that the files were found clean by a check that began at this time (`time.time_ns()`); `reads` are the files
    and folders that it looked at elsewhere. Nothing is kept of what may have changed meanwhile, or where nothing can be."""
    if any(map(os.environ.get, SWITCHES)) or not all(map(os.path.isfile, paths)):
        return
    try:
        key, checked = _key(paths), {path: _bytes(path) for path in paths}
        others = {*reads, *_around(paths), *_ours()} - {*map(os.path.abspath, paths)}
        states = {path: state(path) for path in others}
        latest = max(found[0] for found in (*states.values(), *map(state, paths)) if found)
        if sum(map(len, checked.values())) <= MOST_BYTES and latest < began - SETTLED:
            write_over(_slot(key), marshal.dumps((key, checked, states)))
    except OSError:
        pass


def _key(paths: tuple[str, ...]) -> tuple:
    """All that the answer depends on beside files."""
    return (paths, os.getcwd(), __file__, __version__, sys.version, tuple(sys.path), tuple(map(os.environ.get, ENVIRONMENT)))


def _around(paths: tuple[str, ...]) -> list[str]:
    """What each check asks for: files beside the checked ones, which may derive from their classes, what packages around
    them hand out, what can be imported, and settings."""
    from breakscope.environment import import_folders

    found = [*filter(None, sys.path), *import_folders()]
    for folder in {os.path.dirname(os.path.abspath(path)) for path in paths}:
        found += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")]
        found += [folder, os.path.join(folder, "__init__.py"), os.path.join(os.path.dirname(folder), "__init__.py")]
    folder = os.path.join(os.getcwd(), "")
    while folder != (folder := os.path.dirname(folder)):
        found.append(os.path.join(folder, "pyproject.toml"))
    return found


def _ours() -> list[str]:
    """What this tool is made of: its modules, as far as they had a part in it, its rules and their tables."""
    from breakscope.rulebook import rules_folder

    found = [module.__file__ for name, module in [*sys.modules.items()] if name.partition(".")[0] == "breakscope"]
    for folder, folders, files in os.walk(rules_folder()):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [folder, *(os.path.join(folder, name) for name in files)]
    return [path for path in found if path]


def _slot(key: tuple) -> str:
    return os.path.join(cache_folder(), "clean", str(number(key, SLOTS)))


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
