"""What Dynamo does with a callable, measured in this process: breaks with their GB ids, and
recompiles.

Reads the structured trace where torch writes it, the logger `torch.__trace`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.observations.reader import registry
from breakscope.dynamic.observations.reasons import Reason, header_place, read_reason
from breakscope.dynamic.observations.recompiles import recompile_reasons
from breakscope.dynamic.trace.frames import read_frames

IDS = registry(str(Path(torch.__file__).parent))
NOISY = ("torch._dynamo", "torch.fx")


@dataclass(frozen=True)
class Break:
    """One break report: why, and the (path, line) frames from the outermost to the innermost."""

    reason: Reason
    frames: tuple[tuple[str, int], ...]

    def line_in(self, path: str) -> int | None:
        """The innermost line of this break in `path`; None when no frame is in that file."""
        return next((line for file, line in reversed(self.frames) if file == path), None)


@dataclass
class Seen:
    """All that one capture saw."""

    breaks: list[Break] = field(default_factory=list)
    # of the guards that failed, one for each recompile
    families: list[str] = field(default_factory=list)
    graphs: int = 0

    def ids(self) -> set[str]:
        return {b.reason.gb_id for b in self.breaks}


class _Recorder(logging.Handler):
    def __init__(self, seen: Seen):
        super().__init__()
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None) or {}
        self.seen.graphs += "dynamo_output_graph" in metadata
        name = metadata.get("artifact", {}).get("name")
        if name == "dynamo_graph_break_reason":
            text = _payload(record)
            frames = [(frame.path, frame.line) for frame in read_frames(text)]
            place = header_place(text)
            self.seen.breaks.append(
                Break(read_reason(text, IDS), tuple(frames or ([place] if place else [])))
            )
        elif name == "recompile_reasons":
            self.seen.families += [
                read_guard(reason).family for reason in recompile_reasons(_payload(record))[:1]
            ]


def _payload(record: logging.LogRecord) -> str:
    payload = record.payload
    return str(payload() if callable(payload) else payload)


@contextlib.contextmanager
def recording() -> Iterator[Seen]:
    """Record what Dynamo does inside the `with`; it starts afresh and forgets everything
    afterwards."""
    trace, seen = logging.getLogger("torch.__trace"), Seen()
    recorder, level, propagates = _Recorder(seen), trace.level, trace.propagate
    levels = [(logging.getLogger(name), logging.getLogger(name).level) for name in NOISY]
    torch._dynamo.reset()
    trace.addHandler(recorder)
    trace.setLevel(logging.DEBUG)
    trace.propagate = False
    for logger, _ in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield seen
    finally:
        trace.removeHandler(recorder)
        trace.setLevel(level)
        trace.propagate = propagates
        for logger, before in levels:
            logger.setLevel(before)
        torch._dynamo.reset()


def capture(function: Callable, calls: list[tuple], drive: Callable | None = None) -> Seen:
    """Compile `function` with the eager backend, call it with each tuple of arguments, return what
    Dynamo did.

    With `drive`, that makes the calls: `drive(compiled, function)`. An exception of the function
    itself ends that call and not the capture.
    """
    with recording() as seen:
        compiled = torch.compile(function, backend="eager")
        if drive is not None:
            drive(compiled, function)
        for arguments in calls:
            with contextlib.suppress(Exception):
                compiled(*arguments)
    return seen
