"""The one place that opens what others wrote, for reading: checked files and what they import,
`pyproject.toml`, `.gitignore`, source that a trace names.

Regular files only, and none above one size. A FIFO, a socket or a device may keep its reader waiting
for ever, or never end; links are followed, and what they lead to is judged.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from breakscope import limits

# to open a FIFO waits for its other end, unless told otherwise
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)


# what has no file, such as the cells of a notebook, by name
_held: ContextVar[Mapping[str, bytes]] = ContextVar("held", default=MappingProxyType({}))


class Unreadable(Exception):
    """A file that is not read. The message goes on from the file's name, such as "is no regular
    file"."""


class NotThere(Unreadable):
    """There is no file of that name, or none that may be read."""


@contextmanager
def holding(sources: Mapping[str, bytes]) -> Iterator[None]:
    """Within, these names are read as files with this content, wherever they seem to lie."""
    absolute = {os.path.abspath(name): text for name, text in sources.items()}
    token = _held.set({**_held.get(), **sources, **absolute})
    try:
        yield
    finally:
        _held.reset(token)


def is_file(path: str | os.PathLike) -> bool:
    """True for what `read_file` may read."""
    return os.fspath(path) in _held.get() or os.path.isfile(path)


def read_file(path: str | os.PathLike) -> bytes:
    """A file's bytes; raises Unreadable."""
    if (held := _held.get().get(os.fspath(path))) is not None:
        return held
    try:
        _refuse(os.stat(path))  # before it is opened: to open a device may do something
        with open(path, "rb", opener=_opened) as file:
            found = os.fstat(file.fileno())
            _refuse(found)
            data = file.read(found.st_size + 1)
            if len(data) > found.st_size:  # it grew; those of /proc have no size at all
                data += file.read(limits.LARGEST_FILE + 1 - len(data))
    except (OSError, ValueError) as problem:  # ValueError: no file can have that name
        raise NotThere(f"cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(data) > limits.LARGEST_FILE:
        raise _too_large()
    return data


def _opened(path: str, _flags: int) -> int:
    return os.open(path, FLAGS)


def _refuse(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("is no regular file")
    if found.st_size > limits.LARGEST_FILE:
        raise _too_large()


def _too_large() -> Unreadable:
    return Unreadable(f"is larger than {limits.LARGEST_FILE // 1_000_000} MB")
