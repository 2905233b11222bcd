"""The progress log of the child process: one JSON line per event."""

from __future__ import annotations

import json
from pathlib import Path

# the exit code of a child that cannot write its progress log: EX_IOERR of sysexits.h
UNWRITTEN = 74


def read_progress(file: Path) -> list[dict]:
    """Its notes, without lines that cannot be read."""
    try:
        lines = file.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    notes = []
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, dict) and "event" in note:
            notes.append(note)
    return notes
