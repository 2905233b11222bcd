"""Files into records: Dynamo's structured trace (TORCH_TRACE), the text log (TORCH_LOGS_OUT) and the child's diary.

All readers here accept files that were cut off or that hold garbage: what cannot be read is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADER = re.compile(r"^[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\] (?P<rest>\{.*)")
LOG_LINE = re.compile(
    r"^(?P<stamp>[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\])(?: \[(?P<id>[^\]\s]*\d+/\d+[^\]\s]*)\])?"
    r"(?: \[__(?P<artifact>\w+)\])? ?(?P<text>.*)")
PHASE = "breakscope_phase"
UNINTERESTING = frozenset(("chromium_event", "describe_storage", "describe_tensor", "describe_source"))


@dataclass(frozen=True)
class Record:
    """One record of the structured trace. `phase` is the marker before it; "" when the trace has no markers."""

    kind: str  # "artifact", "dynamo_start", "dynamo_output_graph", "compilation_metrics", ...
    data: Any
    name: str  # an artifact's name
    payload: str
    compile_id: str  # "0/0", "0/0#1" after a reset of Dynamo, "" outside of a compile
    attempt: int
    phase: str


@dataclass(frozen=True)
class LogMessage:
    """One message of the text log, its lines joined."""

    artifact: str
    compile_id: str
    text: str
    phase: str


def read_trace(folder: Path) -> list[Record]:
    """All records of all files of a trace folder, in the order in which the files were begun."""
    try:
        files = sorted((f for f in folder.iterdir() if f.suffix == ".log"), key=lambda f: (f.stat().st_mtime, f.name))
    except OSError:
        return []
    return [record for file in files for record in read_trace_file(file)]


def read_trace_file(file: Path) -> Iterator[Record]:
    names: dict[int, str] = {}
    phase, resets, started = "", 0, set()
    for header, payload in _blocks(file):
        if "str" in header:
            _learn(header["str"], names)
            continue
        kind = next(iter(header), "")
        if kind in UNINTERESTING:
            continue
        data = header[kind]
        name = data.get("name", "") if isinstance(data, dict) else ""
        if kind == "artifact" and name == PHASE:
            phase = payload
            if not phase.startswith("capture "):
                resets, started = 0, set()
            continue
        compile_id = _compile_id(header)
        if kind == "dynamo_start":
            if compile_id in started:  # torch._dynamo.reset() counts from 0/0 again
                resets, started = resets + 1, set()
            started.add(compile_id)
            data = {"stack": [_with_name(frame, names) for frame in data.get("stack") or []]}
        if compile_id and resets:
            compile_id += f"#{resets}"
        yield Record(kind, data, name, payload, compile_id, header.get("attempt") or 0, phase)


def read_log(file: Path) -> Iterator[LogMessage]:
    """The messages of a TORCH_LOGS_OUT file. torch repeats the prefix on every line of a message."""
    lines: list[str] = []
    current: tuple[str, str, str] | None = None
    phase = ""
    for line in _lines(file):
        found = LOG_LINE.match(line)
        if found is None:
            continue
        key = (found["stamp"], found["id"] or "", found["artifact"] or "")
        starts = found["text"].startswith(("TRACE ", "Graph break", "Recompiling ", PHASE))
        if current is not None and (key != current or starts):
            text = "\n".join(lines)
            if text.startswith(PHASE):
                phase = text.removeprefix(PHASE).strip()
            else:
                yield LogMessage(current[2], current[1], text, phase)
            lines = []
        current = key
        lines.append(found["text"])
    if current is not None and lines:
        yield LogMessage(current[2], current[1], "\n".join(lines), phase)


def read_progress(file: Path) -> list[dict]:
    """The child's diary, without lines that cannot be read."""
    notes = []
    for line in _lines(file):
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, dict) and "event" in note:
            notes.append(note)
    return notes


def _lines(file: Path) -> Iterator[str]:
    try:
        with open(file, encoding="utf-8", errors="replace", newline="\n") as stream:
            for line in stream:
                yield line.rstrip("\n")
    except OSError:
        return


def _blocks(file: Path) -> Iterator[tuple[dict, str]]:
    """(header, payload) pairs; a payload's lines start with a tab."""
    header: dict | None = None
    payload: list[str] = []
    for line in _lines(file):
        if line.startswith("\t"):
            payload.append(line[1:])
            continue
        found = HEADER.match(line)
        if found is None:
            continue
        if header is not None:
            yield header, "\n".join(payload)
        payload = []
        try:
            header = json.loads(found["rest"])
        except ValueError:
            header = None
        if not isinstance(header, dict) or not header:
            header = None
    if header is not None:
        yield header, "\n".join(payload)


def _learn(entry: Any, names: dict[int, str]) -> None:
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], int):
        names[entry[1]] = str(entry[0])


def _with_name(frame: dict, names: dict[int, str]) -> dict:
    file = frame.get("filename")
    return {**frame, "filename": names.get(file, "") if isinstance(file, int) else str(file or "")}


def _compile_id(header: dict) -> str:
    if header.get("frame_id") is None:
        return ""
    return f"{header['frame_id']}/{header.get('frame_compile_id', 0)}"
