"""Where the system keeps what can be made again, and how it is told whether that still holds.

Imports next to nothing, because every check of a few files asks here first.
"""

from __future__ import annotations

import marshal
import os
import sys

NAMES = 1_000_003  # that a kind of file may have


def cache_folder() -> str:
    """The folder of ours in the user's cache."""
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        cache = os.path.expanduser("~/Library/Caches")
    else:
        cache = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(cache):  # then it does not count, https://specifications.freedesktop.org/basedir-spec/latest/
            cache = os.path.expanduser("~/.cache")
    return os.path.join(cache, "breakscope")


def number(key: object, below: int = NAMES) -> int:
    """A number for the name of a file that holds what belongs to the key; another key may have the same."""
    return int.from_bytes(marshal.dumps(key), "little") % below


def write_over(file: str, data: bytes) -> None:
    """Write a whole file, which another process may read or write now. Raises OSError when that cannot be."""
    if not os.path.isabs(file):
        raise FileNotFoundError(file)  # a user without a home: "~" is no folder of the project that is checked
    unfinished = f"{file}.{os.getpid()}"
    os.makedirs(os.path.dirname(file), exist_ok=True)
    try:
        with open(unfinished, "wb") as new:
            new.write(data)
        os.replace(unfinished, file)
    except OSError:
        os.unlink(unfinished)
        raise


def state(path: str) -> tuple[int, int] | None:
    """When a file or folder was changed (nanoseconds) and how many bytes it has; None when it is gone."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
