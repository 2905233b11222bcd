"""The progress log of the child process: one JSON line per event, written at once, so that a crash
loses none."""

from __future__ import annotations

import json
import os
import time

from breakscope.dynamic.trace.progress_log import UNWRITTEN


class Progress:
    """Appends to one file, every line in one write.

    A fork of the user's that runs on into our work, as a forgotten `else` after os.fork() does,
    ends at its first note.
    """

    def __init__(self, path: str) -> None:
        self.owner = os.getpid()
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, event: str, **facts: object) -> None:
        if os.getpid() != self.owner:
            os._exit(0)
        line = json.dumps({"event": event, "time": time.time(), **facts}, default=str)
        data = line.encode("utf-8", "replace") + b"\n"
        try:
            whole = os.write(self.descriptor, data) == len(data)
        except OSError:
            whole = False
        if not whole:  # nothing more could be told, so nothing more is done
            os._exit(UNWRITTEN)
