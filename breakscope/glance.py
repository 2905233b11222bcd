"""A first look at a few files: what it clears needs no analyzer, no rules and no configuration.

Imports next to nothing, because a pre-commit hook pays it for every commit. It clears only what the analyzer would clear:
a file that parses and that holds none of the words without which there is no compiled region.
"""

from __future__ import annotations

import os
import warnings

WORDS = (b"forward", b"compile", b"suppress_errors", b"assume_constant_result")
MOST_FILES = 50
ONLY_A_TREE = 0x400  # ast.PyCF_ONLY_AST, without the import of ast


def is_clean(paths: tuple[str, ...]) -> bool:
    """True when nothing can be found in these files; False whenever that takes a closer look."""
    return 0 < len(paths) <= MOST_FILES and all(map(_is_clean, paths)) and not _is_configured(os.getcwd())


def _is_clean(path: str) -> bool:
    if not path.endswith(".py") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            data = file.read()
        if any(word in data for word in WORDS) or (b"torch" in data and b"class " in data):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's literals
            compile(data, path, "exec", flags=ONLY_A_TREE, dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


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
