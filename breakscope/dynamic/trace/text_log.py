"""Dynamo's text log (TORCH_LOGS, on stderr or in TORCH_LOGS_OUT) into messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.trace.phases import PHASE

LOG_LINE = re.compile(
    r"^(?:\[[\w-]+\]: ?)*(?P<stamp>[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ (?P<process>\d{1,10}) \S{1,4096}:\d{1,9}\])"
    r"(?: \[(?P<id>[^\]\s]{0,60}?\d{1,15}/\d{1,15}[^\]\s]{0,60})\])?(?: \[__(?P<artifact>\w+)\])?"
    # a message of a graph's later life names its compile itself
    r"(?: \[(?P<late>\d{1,15}/\d{1,15}[^\]\s]{0,60})\])? ?(?P<text>.*)"
)
RANK = re.compile(r"^(?:\[[\w-]+\]: ?)*?\[rank(?P<rank>\d{1,9})\]:")
STARTS = (
    "TRACE ",
    "Graph break",
    "Recompiling ",
    "Re-recording ",
    "skipping cudagraph",
    "CUDAGraph supports ",
    PHASE,
)


@dataclass(frozen=True)
class LogMessage:
    """One message of the text log, its lines joined."""

    artifact: str
    compile_id: str
    text: str
    phase: str
    process: int = 0
    rank: int | None = None


def read_log(file: Path) -> Iterator[LogMessage]:
    """The messages of a TORCH_LOGS_OUT file. torch repeats the prefix on every line of a message."""
    lines: list[str] = []
    current: tuple | None = None
    phase = late = ""
    for line in _lines(file):
        found = LOG_LINE.match(line)
        if found is None:
            continue
        rank = RANK.match(line)
        key = (
            found["stamp"],
            found["id"] or "",
            found["artifact"] or "",
            int(found["process"]),
            int(rank["rank"]) if rank else None,
        )
        if current is not None and (key != current or found["text"].startswith(STARTS)):
            text = "\n".join(lines)
            if text.startswith(PHASE):
                phase = text.removeprefix(PHASE).strip()
            else:
                yield LogMessage(
                    current[2], current[1] or late, text, phase, current[3], current[4]
                )
            lines = []
        late = late if lines else found["late"] or ""
        current = key
        lines.append(found["text"])
    if current is not None and lines:
        yield LogMessage(
            current[2], current[1] or late, "\n".join(lines), phase, current[3], current[4]
        )


def _lines(file: Path) -> Iterator[str]:
    """The lines, each cut off where it is longer than any that torch writes."""
    try:
        with open(file, encoding="utf-8", errors="replace", newline="\n") as stream:
            whole = True
            while line := stream.readline(limits.LONGEST_LOG_LINE):
                if whole:
                    yield line.rstrip("\r\n").replace("\0", "?")
                whole = line.endswith("\n")
    except OSError:
        return
