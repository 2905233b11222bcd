"""The child's diary: what the child process of a run says of itself, one JSON line per event."""

from __future__ import annotations

import json
from pathlib import Path

AFTERWARDS = "afterwards"  # the phase of further calls behind the capture, until nothing compiles any more


def read_progress(file: Path) -> list[dict]:
    """The diary's notes, without lines that cannot be read."""
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
