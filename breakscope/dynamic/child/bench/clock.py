"""How long work on the CPU takes, by itself: without the time in which the system ran other
processes instead.

With one thread that never waits, wall time and CPU time differ by nothing else, and the CPU time is
taken. Of a step that waits (for a file, a lock, another thread) or computes in several threads it
is the wall time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

try:
    import resource

    THREAD = resource.RUSAGE_THREAD
except (ImportError, AttributeError):  # Windows; macOS
    THREAD = None

WALL, CPU = "wall", "cpu"


class Clock:
    """`kind` is "cpu" where CPU time can be taken, else "wall"."""

    def __init__(self) -> None:
        self.kind = CPU if torch.get_num_threads() == 1 and _sees_waits() else WALL

    def time(self, work: Callable[[], Any]) -> tuple[float, float, Any]:
        """(wall seconds, seconds of its own, result) of one call."""
        waits = _waits() if self.kind == CPU else 0
        began, own = time.perf_counter(), time.thread_time()
        result = work()
        own, wall = time.thread_time() - own, time.perf_counter() - began
        if self.kind == WALL or _waits() != waits:
            own = wall
        return wall, own, result


def _waits() -> int:
    """How often this thread has waited; being put aside for another process does not count."""
    return resource.getrusage(THREAD).ru_nvcsw


def _sees_waits() -> bool:
    if THREAD is None:
        return False
    before = _waits()
    time.sleep(1e-3)
    return _waits() > before
