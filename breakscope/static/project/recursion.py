"""Room for deep recursion, had once.

CPython keeps the frames of Python functions in chunks of 16 KB and gives a chunk back to the system
as soon as the frame that opened it returns (`push_chunk` in Python/pystate.c, 3.11 to 3.14). An
interpreter that recurses around the end of a chunk maps and unmaps memory at every call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from breakscope import limits

Result = TypeVar("Result")

# of 8 bytes: chunks are powers of two, so a frame a little larger than half of one opens a chunk of
# which the rest serves the frames above it
_SLOTS = 5 << 16


def _call(function: Callable[[], Result]) -> Result:
    return function()


_call.__code__ = _call.__code__.replace(co_stacksize=_SLOTS)


def with_room(function: Callable[[], Result]) -> Result:
    """Call the function from a frame behind which some ten thousand frames find room; the slots are
    never touched.

    Python's own limit of 1,000 frames is met by forty calls inside each other, such as constructors
    of a library's models.
    """
    with own_recursion():
        return _call(function)


@contextmanager
def own_recursion() -> Iterator[None]:
    """Allow so many frames from here on, however many there are: what runs inside depends only on
    what it does itself."""
    limit, frames = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame is not None:
        frame, frames = frame.f_back, frames + 1
    sys.setrecursionlimit(max(limit, frames + limits.MOST_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
