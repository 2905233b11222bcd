"""The progress log of the child process: one JSON line per event."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from breakscope import limits

# the exit code of a child that cannot write its progress log: EX_IOERR of sysexits.h
UNWRITTEN = 74

# what a stage does, in words; a stage that takes no time has none
STAGES = {
    "import torch": "importing torch",
    "import": "importing the target's file",
    "eager": "calls in eager",
    "capture": "calls under Dynamo",
    "explain": "torch._dynamo.explain",
    "radar": "varying the calls",
    "steps": "timing steps",
}


def current(file: Path) -> str:
    """What the child does now, by the end of its progress log; "" where that says nothing."""
    try:
        with open(file, "rb") as stream:
            stream.seek(max(stream.seek(0, os.SEEK_END) - limits.PROGRESS_TAIL, 0))
            lines = stream.read().splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            note = json.loads(line)
        except ValueError:  # the first one may be cut
            continue
        if not isinstance(note, dict):
            continue
        if note.get("event") == "done":
            return "timing steps"
        if note.get("event") == "captured":
            return "after the calls"
        if note.get("event") in ("call", "varied", "backward") and "call" in note:
            return f"call {note['call'] + 1} under Dynamo"
        if note.get("event") == "variation":
            return f"varying the calls, {note.get('name', '')} is done"
        if words := STAGES.get(str(note.get("name", ""))):
            return words
    return ""


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


def last_note(notes: Sequence[dict], event: str) -> dict:
    """The last note of an event; empty where there is none."""
    return next((note for note in reversed(notes) if note["event"] == event), {})


def torch_root(notes: Sequence[dict]) -> str:
    """Torch's folder in the child; "" before it was imported."""
    return last_note(notes, "versions").get("torch_root", "")
