"""Stacks for the parent: of a crash, and of a process that did not end in time."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from pathlib import Path

from breakscope import limits


def write_on_request(folder: Path, deadline: float) -> None:
    """Write this process's stacks to crash-PID.txt when it crashes, and to where-PID.txt when it
    gets SIGUSR1.

    A process whose parent ended before it could stop it ends a while after the deadline. Every
    process has its own files: faulthandler writes in small pieces, and two processes in one file
    would mix.
    """
    faulthandler.enable(_open(folder, "crash"), all_threads=False)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, _open(folder, "where"), all_threads=True)
    # not faulthandler's own timer: setting that in a fork waits for ever
    if hasattr(signal, "alarm"):
        signal.alarm(max(0, round(deadline - time.time())) + limits.ORPHAN_SECONDS)


def _open(folder: Path, name: str) -> int:
    """A descriptor that stays open to the end of the process."""
    return os.open(
        folder / f"{name}-{os.getpid()}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600
    )
