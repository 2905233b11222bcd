"""Temporary folders that go when we go: at the end of the run, or, where we were killed, at the next
run at the latest.

Whoever uses a folder holds a lock on a file in it, which the system takes back when the process
ends. A folder whose lock is free was left behind by one that was killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.capture.supervised import MARK
from breakscope.dynamic.capture.supervisor import LOCK, remove
from breakscope.errors import UserError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

PREFIX = "breakscope-"


@contextmanager
def run_folder() -> Iterator[Path]:
    """A fresh folder for what is captured: job, trace, logs and caches. Raises UserError when there
    is nowhere to write.

    What others that were killed have left behind is removed first.
    """
    with writing(None):
        parent = Path(tempfile.gettempdir())
    remove_left(parent)
    with writing(parent):
        folder, lock = _locked(parent)
    try:
        yield folder
    finally:
        remove([folder])
        if lock is not None:
            os.close(lock)


@contextmanager
def writing(folder: Path | None) -> Iterator[None]:
    """Within, an OSError becomes a UserError that names the folder."""
    try:
        yield
    except OSError as problem:
        where = f"to {folder}" if folder else "temporary files"
        raise UserError(
            f"cannot write {where}: {problem.strerror}; TMPDIR can name another folder"
        ) from None


def _locked(parent: Path) -> tuple[Path, int | None]:
    """A fresh folder and the descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        if fcntl is None:
            return folder, None
        lock = _lock(folder, wait=True)
        if lock is None or (folder / LOCK).exists():
            return folder, lock
        os.close(lock)  # someone took it for one that was left, just before it was locked


def _lock(folder: Path, wait: bool) -> int | None:
    """The descriptor that holds the folder's lock; None where another has it, or there are none."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | (os.O_CREAT if wait else 0), 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_left(parent: Path) -> None:
    """Remove our folders in there that nobody uses any more, and end what still runs of them."""
    if fcntl is None:
        return
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            if not (folder / LOCK).exists():
                # as it is before it is locked; what else has only the name is left alone
                if time.time() - found.st_mtime > limits.UNLOCKED_SECONDS and not any(
                    folder.iterdir()
                ):
                    folder.rmdir()
                continue
            lock = _lock(folder, wait=False)
            if lock is None:
                continue
            for number in marked(folder):
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
            remove([folder])
            os.close(lock)


def marked(folder: Path) -> Iterator[int]:
    """The processes that were started for a folder, or by those, orphans too. Linux only."""
    mark = f"{MARK}={folder}\0".encode(errors="surrogateescape")
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in entry.read_bytes() + b"\0" and int(entry.parent.name) != os.getpid():
                yield int(entry.parent.name)
        except OSError:
            continue
