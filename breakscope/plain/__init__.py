"""A second look at a few files, for plain model code: it clears those in which the analyzer certainly finds nothing.

A small abstract interpreter of its own. Every statement and expression that a `forward` reaches must be one of those
that it knows; every function, method and layer must be one of names.py, which is generated from what rules ask for and
what torch's tables know; whatever may be a tensor may not be asked for its truth or its value. What is not understood
is not plain, and then the analyzer looks. Imports next to nothing.
"""

from __future__ import annotations

import _ast
from _collections_abc import Callable, Iterable

from breakscope.plain.files import Files
from breakscope.plain.kinds import NotPlain
from breakscope.plain.source import Source


def _nobody(classes: list[str]) -> Iterable[str]:
    return ()


def is_plain(
    tree: _ast.Module, is_clever: bool = False, path: str = "", heirs: Callable[[list[str]], Iterable[str]] = _nobody
) -> bool:
    """True when the analyzer certainly finds nothing in the file. For `is_clever` see Source; without a path nothing is
    known of what the file imports. `heirs` gives the files that derive classes from those of these names."""
    files = Files(path)
    try:
        source = Source(tree, is_clever, files, files.path)
        if source.wraps:
            from breakscope.plain.wrapping import Wrapping

            if not Wrapping(source).is_harmless(source.wraps):
                return False
        from breakscope.plain.look import Look  # many files need no closer one

        Look(source).run(heirs(list(source.classes)) if source.classes else ())
    except (NotPlain, RecursionError, OSError, SyntaxError, ValueError):
        return False
    return True
