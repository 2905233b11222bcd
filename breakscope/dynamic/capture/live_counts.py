"""A trace that is still being written, counted as it grows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from breakscope import limits

MARKS = (
    b'] {"dynamo_start": ',
    b'] {"artifact": {"name": "dynamo_graph_break_reason"',
    b'] {"artifact": {"name": "recompile_reasons"',
)
OVERLAP = max(map(len, MARKS)) - 1


@dataclass(frozen=True)
class Counts:
    """Events so far, before those of one place are put together."""

    compiles: int = 0
    breaks: int = 0
    recompiles: int = 0


class Follower:
    """Counts the events in the files of a folder; each look reads only what is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # position, and the bytes before it that may begin a mark
        self.read: dict[Path, tuple[int, bytes]] = {}
        self.totals = [0] * len(MARKS)

    def look(self) -> Counts:
        for file in self.folder.glob("*.log"):
            position, tail = self.read.get(file, (0, b""))
            try:
                with open(file, "rb") as stream:
                    stream.seek(position)
                    new = stream.read(limits.LIVE_CHUNK)
            except OSError:
                continue
            text = tail + new
            for index, mark in enumerate(MARKS):
                self.totals[index] += text.count(mark) - tail.count(mark)
            self.read[file] = (position + len(new), text[-OVERLAP:])
        return Counts(*self.totals)
