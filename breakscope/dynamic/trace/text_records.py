"""Compiles and recompiles of a text log, as the records that a structured trace would hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.dialects import SKIPPED, UNSUPPORTED
from breakscope.dynamic.trace.frames import Frame, read_frames
from breakscope.dynamic.trace.header import Metrics
from breakscope.dynamic.trace.processes import Process, in_order
from breakscope.dynamic.trace.records import Record
from breakscope.dynamic.trace.text_log import LogMessage

RECOMPILING = re.compile(
    r"Recompiling function (?P<name>.{1,400}) in (?P<path>.{1,4096}):(?P<line>\d{1,9})\s*$",
    re.MULTILINE,
)
LIMIT = re.compile(
    r"torch\._dynamo hit config\.\w*limit\w* \(\d+\)\n\s+function: '(?P<name>.{1,400})' \((?P<path>.{1,4096}):(?P<line>\d{1,9})\)"
)
TRACEBACK = "\nTraceback (most recent call last):"  # of torch's own frames, below the user's
FAILURE = re.compile(r"^[ \t]*- (?=!?\d+/)", re.MULTILINE)


def processes_of_log(messages: Sequence[LogMessage]) -> list[Process]:
    """The processes whose messages stand in one log."""
    by_number: dict[tuple[int, int | None], list[LogMessage]] = {}
    ranks = {message.process: message.rank for message in messages if message.rank is not None}
    for message in messages:
        number = message.process
        by_number.setdefault((number, ranks.get(number)), []).append(_without_attempt(message))
    found = [
        Process(number, rank, tuple(_records(own)), tuple(own))
        for (number, rank), own in by_number.items()
    ]
    return in_order(found)


def _without_attempt(message: LogMessage) -> LogMessage:
    """The log writes `0/0_1` for the second attempt at `0/0`."""
    return replace(message, compile_id=message.compile_id.partition("_")[0])


def _records(messages: Sequence[LogMessage]) -> Iterator[Record]:
    started: set[str] = set()
    for message in messages:
        found = RECOMPILING.search(message.text) if message.artifact == "recompiles" else None
        limit = LIMIT.search(message.text)
        if found:
            yield from _start(
                message, started, Frame(found["path"], int(found["line"]), found["name"])
            )
            yield _record(
                "artifact",
                "recompile_reasons",
                None,
                message,
                payload=json.dumps(_reasons(message.text)),
            )
        elif limit:
            frame = Frame(limit["path"], int(limit["line"]), limit["name"])
            yield from _start(message, started, frame)
            yield _failure(message, frame, "recompile limit reached")
        elif message.text.startswith(SKIPPED):
            frames = read_frames(message.text.partition(TRACEBACK)[0], SKIPPED)
            if frames and message.compile_id:
                first = frames[0]
                frame = replace(
                    first, line=SourceFile.read(first.path).function_line(first.line) or first.line
                )
                yield from _start(message, started, frame)
                error = message.text.rpartition(UNSUPPORTED)[2]
                yield _failure(message, frame, error, frames[-1])


def _start(message: LogMessage, started: set[str], frame: Frame) -> Iterator[Record]:
    if message.compile_id not in started:
        started.add(message.compile_id)
        yield _record("dynamo_start", "", {"stack": (frame,)}, message)


def _failure(message: LogMessage, frame: Frame, reason: str, site: Frame | None = None) -> Record:
    """A frame that is skipped."""
    metrics = Metrics(
        co_name=frame.function,
        co_filename=frame.path,
        co_firstlineno=frame.line,
        fail_reason=reason,
    )
    if site is not None:
        metrics.fail_user_frame_filename, metrics.fail_user_frame_lineno = site.path, site.line
    return _record("compilation_metrics", "", metrics, message)


def _record(kind: str, name: str, data: object, message: LogMessage, payload: str = "") -> Record:
    return Record(
        kind,
        data,
        name,
        payload,
        message.compile_id,
        0,
        message.phase,
        message.process,
        message.rank,
    )


def _reasons(text: str) -> list[str]:
    """The guards under "triggered by the following guard failure(s):"."""
    return [part.strip() for part in FAILURE.split(text)[1:]]
