"""A first look at a few files: what it clears needs no analyzer, no rules and no configuration.

Imports next to nothing, because a pre-commit hook pays it for every commit. It clears only what the analyzer would
clear: a file that parses and that holds none of the words without which there is no compiled region, or one whose
regions are plain (breakscope.plain).
"""

from __future__ import annotations

import os
import warnings

from breakscope.exports import ONLY_A_TREE, handed_out

WORDS = (b"forward", b"compile", b"suppress_errors", b"assume_constant_result")
# Behind one of these may stand what the look at plain code does not follow: hooks, objects that change by name.
CLEVER = (b"_hook", b"setattr", b"__dict__", b"vars(")
HARMLESS = (b"re.compile(", b"compiled", b"compiler")  # words with `compile` in them that compile nothing
SPACES = bytes.maketrans(b".,[]=:|#\n", b"         ")
MOST_FILES = 50
MOST_BESIDE = 200  # files in a folder; the analyzer looks for heirs in no larger one


def is_clean(paths: tuple[str, ...], trees: dict[str, tuple[bytes, object]] | None = None) -> bool:
    """True when nothing can be found in these files; False whenever that takes a closer look. `trees` gets what was
    parsed on the way: absolute path -> (the file's bytes, its tree)."""
    if not 0 < len(paths) <= MOST_FILES:
        return False
    trees = {} if trees is None else trees
    return all(_is_clean(path, trees) for path in paths) and not _is_configured(os.getcwd())


def _is_clean(path: str, trees: dict[str, tuple[bytes, object]]) -> bool:
    if not path.endswith(".py") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            data = file.read()
        holds_regions = any(word in data for word in WORDS) or (b"torch" in data and b"class " in data)
        if holds_regions and not may_be_plain(data):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's literals
            tree = compile(data, path, "exec", flags=ONLY_A_TREE, dont_inherit=True)
        trees[os.path.abspath(path)] = data, tree
        if handed_out(path):
            return False
        return not holds_regions or _is_plain(path, data, tree)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def may_be_plain(data: bytes) -> bool:
    """False when a word of the file says that a look at its code would be in vain."""
    return not any(word in data for word in WORDS[2:])


def is_clever(data: bytes) -> bool:
    """True when the file has a word that only a look at where it stands can tell harmless."""
    return any(word in data for word in CLEVER) or data.count(b"compile") != sum(map(data.count, HARMLESS))


def _is_plain(path: str, data: bytes, tree: object) -> bool:
    """True when the file's own regions are plain, and what files beside it inherit from its classes."""
    from breakscope.plain import is_plain

    try:
        return is_plain(tree, is_clever(data), path, lambda classes: heirs(path, classes))
    except Exception:  # a mistake of ours must not stop a commit: the analyzer looks
        if "BREAKSCOPE_DEBUG" in os.environ:
            raise
        return False


def heirs(path: str, classes: list[str]) -> list[str]:
    """The files in the same folder that derive from classes of the file: what such classes hand to the constructors
    that they inherit decides what is found here. Raises ValueError when there are too many to be looked at."""
    folder, name = os.path.split(os.path.abspath(path))
    stem, names = name.removesuffix(".py").encode(), {cls.encode() for cls in classes}
    beside = [other for other in os.listdir(folder) if other.endswith(".py") and other != name]
    if len(beside) > MOST_BESIDE:
        raise ValueError
    found = []
    for other in beside:
        with open(os.path.join(folder, other), "rb") as file:
            data = file.read()
        if stem in data and any(not bases.isdisjoint(names) for bases in _bases(data)):
            found.append(os.path.join(folder, other))
    return found


def _bases(data: bytes) -> list[set[bytes]]:
    """The words between the brackets of each class statement at the top of a file."""
    found = []
    for part in (b"\n" + data).split(b"\nclass ")[1:]:
        name, bracket, rest = part.partition(b"(")
        if bracket and b":" not in name:
            found.append(set(rest.partition(b")")[0].translate(SPACES).split()))
    return found


def _is_configured(folder: str) -> bool:
    """True when a pyproject.toml at or above the folder has settings of ours."""
    while True:
        try:
            with open(os.path.join(folder, "pyproject.toml"), "rb") as file:
                if b"breakscope" in file.read():
                    return True
        except FileNotFoundError:
            pass
        except OSError:
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
