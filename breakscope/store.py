"""A folder of files that this user alone can have written.

What lies in it is read again without doubt, so the folder has to be this user's own: not a link, and
open to nobody else. All is done by the open folder, so that no other can take its place meanwhile.
Whatever goes wrong, nothing was stored: a store never fails.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

READ = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | READ
NAME = 2 * hashlib.sha256().digest_size  # characters of a file's name: hexadecimal digits
CHECKSUM = hashlib.sha256().digest_size  # bytes, in front of the data


class Refused(Exception):
    """A folder that cannot be a store; the message goes on from its name."""


class Store:
    """One such folder. Names are of 64 hexadecimal digits."""

    def __init__(self, folder: str) -> None:
        """Makes the folder where there is none; raises Refused."""
        if not hasattr(os, "geteuid") or os.open not in os.supports_dir_fd:
            raise Refused("cannot be told to be yours alone on this system")
        try:
            os.makedirs(os.path.dirname(folder), 0o700, exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | READ)
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise Refused(f"cannot be opened: {reason}") from None
        found = os.fstat(self._folder)
        if not _is_private(found):
            os.close(self._folder)
            whose = (
                "belongs to another user" if found.st_uid != os.geteuid() else "is open to others"
            )
            raise Refused(f"{whose}; it must be yours and have the mode 700")

    def close(self) -> None:
        os.close(self._folder)

    def get(self, name: str, most: int) -> bytes | None:
        """What is stored under a name, if it is whole and of at most `most` bytes; else None."""
        try:
            with open(
                name, "rb", opener=lambda path, _: self._open(path, os.O_RDONLY | READ)
            ) as file:
                found = os.fstat(file.fileno())
                if not (stat.S_ISREG(found.st_mode) and _is_private(found)):
                    return None
                data = file.read(most + CHECKSUM) if found.st_size <= most + CHECKSUM else b""
        except OSError:
            return None
        data, checksum = data[CHECKSUM:], data[:CHECKSUM]
        return data if hashlib.sha256(data).digest() == checksum else None

    def put(self, name: str, data: bytes) -> None:
        """Store data under a name, for all to see at once or not at all."""
        new = os.urandom(NAME // 2).hex()
        try:
            with open(new, "wb", opener=lambda path, _: self._open(path, NEW)) as file:
                file.write(hashlib.sha256(data).digest())
                file.write(data)
            os.rename(new, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            self._remove(new)

    def trim(self, most: int) -> None:
        """Drop the oldest files until the rest has at most three quarters of `most` bytes, if they
        have more than `most`."""
        with suppress(OSError):
            files = sorted(self._files(), key=lambda file: file[1])
            size = sum(size for _, _, size in files)
            wanted = most * 3 // 4 if size > most else size
            for name, _, its in files:
                if size <= wanted:
                    break
                self._remove(name)
                size -= its

    def clear(self) -> int:
        """Remove all stored files, and nothing else that lies there; returns how many there were."""
        with suppress(OSError):
            return sum([self._remove(name) for name, _, _ in self._files()])
        return 0

    def _open(self, name: str, flags: int) -> int:
        return os.open(name, flags, 0o600, dir_fd=self._folder)

    def _remove(self, name: str) -> bool:
        try:
            os.unlink(name, dir_fd=self._folder)
        except OSError:
            return False
        return True

    def _files(self) -> list[tuple[str, int, int]]:
        """Name, time and size of each stored file."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if len(entry.name) == NAME and set(entry.name) <= set("0123456789abcdef"):
                    with suppress(OSError):
                        its = entry.stat(follow_symlinks=False)
                        found.append((entry.name, its.st_mtime_ns, its.st_size))
        return found


@contextmanager
def opened(folder: str) -> Iterator[Store | None]:
    """The store in a folder; None where there can be none."""
    try:
        store = Store(folder)
    except Refused:
        yield None
        return
    try:
        yield store
    finally:
        store.close()


def default_folder() -> str:
    """The folder for what breakscope stores: what BREAKSCOPE_CACHE_DIR names, else the user's; ""
    where there is none."""
    if named := os.environ.get("BREAKSCOPE_CACHE_DIR"):
        return named
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # as its specification says
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "breakscope", "answers") if os.path.isabs(base) else ""


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077
