"""Which of the files that a trace names may be read.

A trace from elsewhere may name any file of this machine. What a run or a program of the user's own
names is read wherever it lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_roots: ContextVar[tuple[str, ...] | None] = ContextVar("source roots", default=None)


@contextmanager
def only_below(folders: Iterable[str | os.PathLike]) -> Iterator[None]:
    """Within, `may_read` is true of what lies below one of these folders, links followed."""
    token = _roots.set(tuple(os.path.realpath(folder) for folder in folders))
    try:
        yield
    finally:
        _roots.reset(token)


def may_read(path: str | os.PathLike) -> bool:
    """True when the file that a trace names may be read."""
    roots = _roots.get()
    return roots is None or any(is_below(path, root) for root in roots)


def is_below(path: str | os.PathLike, folder: str | os.PathLike) -> bool:
    """True when a file lies below a folder, links followed; the folder lies below itself."""
    try:
        real, root = os.path.realpath(path), os.path.realpath(folder)
    except ValueError:  # no file can have that name
        return False
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
