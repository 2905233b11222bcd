"""The answers of many files, by several processes.

Each process has an analyzer of its own and a part of the files. No file's answer depends on what
else is checked, so it does not matter which process gives it, nor when.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from breakscope import limits
from breakscope.static.answer import Answer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Analysis = Callable[[list[str]], Iterable[Answer]]


def cores() -> int:
    """How many processes may run at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def answers(files: list[str], analysis: Analysis, jobs: int) -> Iterator[Answer]:
    """The answers of all files, in any order. `analysis` gives those of some files one by one, in
    their order.

    What a process that ends early left over is done in this one: then it raises what that one
    raised.
    """
    parts = parts_of(files, jobs)
    if len(parts) < 2:
        yield from analysis(files)
        return
    import multiprocessing  # few files never need it
    from multiprocessing.connection import wait
    from pickle import UnpicklingError

    running: dict[Connection, list[str]] = {}
    processes = []
    try:
        for part in parts:
            ours, theirs = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(target=_send, args=(part, analysis, theirs))
            process.start()
            theirs.close()
            processes.append(process)
            running[ours] = part
        while running:
            for connection in wait(list(running)):
                try:
                    answer = connection.recv()
                except (EOFError, OSError, UnpicklingError):
                    yield from analysis(running.pop(connection))
                    continue
                running[connection].pop(0)
                yield answer
    finally:
        for process in processes:
            process.terminate()
            process.join()


def parts_of(files: list[str], jobs: int) -> list[list[str]]:
    """At most `jobs` parts of about as many bytes each; the files of a folder, which use the same
    modules, stay together. Few files are one part: to start a process takes longer."""
    folders: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for path in files:
        folder = os.path.dirname(path)
        folders.setdefault(folder, []).append(path)
        sizes[folder] = sizes.get(folder, 0) + _size(path)
    jobs = min(jobs, sum(sizes.values()) // limits.FEWEST_BYTES_OF_A_PROCESS)
    if jobs < 2:
        return [files]
    parts: list[list[str]] = [[] for _ in range(jobs)]
    loads = [0] * jobs
    for folder in sorted(folders, key=lambda folder: (-sizes[folder], folder)):
        least = loads.index(min(loads))
        parts[least] += folders[folder]
        loads[least] += sizes[folder]
    return [part for part in parts if part]


def _send(files: list[str], analysis: Analysis, connection: Connection) -> None:
    from threading import Thread

    Thread(target=_end_with_parent, daemon=True).start()
    with connection:
        try:
            for answer in analysis(files):
                connection.send(answer)
        except (Exception, KeyboardInterrupt):
            return  # whoever waits for the rest does it, and meets the same problem


def _end_with_parent() -> None:
    """Nobody waits for the answers of a check that was killed."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
