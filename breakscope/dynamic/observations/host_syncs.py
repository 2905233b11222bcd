"""Where a step makes the CPU wait for the GPU: from the stacks that the child process noted, to the user's
lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame, original_name
from breakscope.report.model import HostSync
from breakscope.report.paths import shown_path
from breakscope.texts import shortened

BACKWARD = "backward pass"  # autograd runs it in a thread of its own, below no line of the user's


def read_host_syncs(noted: Iterable[dict], places: Places) -> tuple[HostSync, ...]:
    """The syncs of one step at the innermost line of the user's, most first; without a path where
    no user's line led there, as in a backward pass."""
    counts: dict[HostSync, int] = {}
    for sync in noted:
        frames = [Frame(path, line, original_name(name)) for path, line, name in sync["frames"]]
        chain = places.chain(frames)
        fact = (
            _at(chain[-1]) if chain else HostSync(function=BACKWARD if sync.get("backward") else "")
        )
        counts[fact] = counts.get(fact, 0) + sync["count"]
    found = [msgspec.structs.replace(fact, count=count) for fact, count in counts.items()]
    return tuple(sorted(found, key=lambda sync: (-sync.count, sync.path, sync.line)))


def _at(frame: Frame) -> HostSync:
    source = SourceFile.read(frame.path)
    code = source.line(frame.line).strip()
    return HostSync(
        path=shown_path(frame.path, Path.cwd()),
        line=frame.line,
        function=source.qualified_name(frame.line) or frame.function,
        code=shortened(code, limits.LONGEST_SYNC_SOURCE),
    )
