"""Dynamo's structured trace (TORCH_TRACE) into records, in one pass and in little memory.

Only the kinds of records that the reader needs are decoded; all else is passed over without a look
at its JSON. A file may be cut off, mixed or hold garbage: what cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from breakscope import limits
from breakscope.dynamic.trace.frames import Frame
from breakscope.dynamic.trace.graph_code import op_names
from breakscope.dynamic.trace.header import Header, StackFrame, decode
from breakscope.dynamic.trace.phases import PHASE

KINDS = (
    "str",
    "dynamo_start",
    "dynamo_output_graph",
    "compilation_metrics",
    "dynamo_cpp_guards_str",
)
ARTIFACTS = (
    "dynamo_graph_break_reason",
    "recompile_reasons",
    "dynamo_error",
    "torch_version",
    PHASE,
)
HEADER = re.compile(
    rb"\n[A-Z](?P<time>\d{4} \d\d:\d\d:\d\d\.\d+) (?P<process>\d{1,10}) [^\]\n]{1,500}\] "
    rb'(?P<json>\{"(?:artifact": \{"name": "(?:%s)"|(?:%s)":).*)'
    % ("|".join(ARTIFACTS).encode(), "|".join(KINDS).encode())
)
NEXT = re.compile(rb"\n[A-Z]\d{4} \d\d:\d\d:\d\d\.\d")
# process, the header's JSON, the payload: a newline and a tab before each of its lines
Block = tuple[int, bytes, bytes]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the structured trace. `phase` is the marker before it; "" when the trace has no
    markers."""

    kind: str  # "artifact", "dynamo_start", "dynamo_output_graph", "compilation_metrics", ...
    # {"stack": frames}, {"ops": names}, Metrics, a guard tree's bytes; None of an artifact
    data: Any
    name: str  # an artifact's name
    payload: str
    compile_id: str  # "0/0", "0/0#1" after a reset of Dynamo, "" outside of a compile
    attempt: int
    phase: str
    process: int = 0
    rank: int | None = None  # in a process group; None when it was not yet initialised


def read_trace(folder: Path) -> list[Record]:
    """All records of all files of a trace folder, in the order in which the files were begun."""
    try:
        files = sorted(
            (f for f in folder.iterdir() if f.suffix == ".log"),
            key=lambda f: (f.stat().st_mtime, f.name),
        )
    except OSError:
        return []
    return [record for file in files for record in read_trace_file(file)]


def read_trace_file(file: Path, names: dict[int, str] | None = None) -> Iterator[Record]:
    """The records of one file.

    `names` are file names by number: those of earlier files, to which this file adds. A fork
    goes on with its parent's numbers.
    """
    try:
        stream = open(file, "rb")
    except OSError:
        return
    with stream:
        yield from read_blocks(_blocks(stream), names)


class Growing:
    """A file of a trace that is still being written; `names` as for `read_trace_file`."""

    def __init__(self, file: Path, names: dict[int, str]) -> None:
        self._file, self._position, self._buffer = file, 0, b"\n"
        self._reading = _Reading(names)

    def look(self) -> list[Record]:
        """What is new, a limited number of bytes at a time. The last record counts when nothing
        followed it since the look before."""
        try:
            with open(self._file, "rb") as stream:
                stream.seek(self._position)
                chunk = stream.read(limits.LIVE_CHUNK)
        except OSError:
            return []
        if not chunk and self._buffer == b"\n":
            return []
        self._position += len(chunk)
        blocks, self._buffer = _split(self._buffer + chunk, ended=not chunk)
        self._buffer = self._buffer if chunk else b"\n"
        return list(self._reading.records(blocks))


def read_blocks(blocks: Iterable[Block], names: dict[int, str] | None = None) -> Iterator[Record]:
    """The records of blocks that were found in a file, or captured in this process."""
    return _Reading({} if names is None else names).records(blocks)


@dataclass
class _Process:
    """What the records of one process mean depends on those before them."""

    names: dict[int, str]
    phase: str = ""
    resets: int = 0
    started: set[str] = field(default_factory=set)

    def compile_id(self, header: Header, kind: str) -> str:
        """The record's compile, distinct from one of the same number before
        torch._dynamo.reset()."""
        if header.frame_id is None:
            return ""
        compile_id = f"{header.frame_id}/{header.frame_compile_id or 0}"
        if kind == "dynamo_start":
            if compile_id in self.started:
                self.resets, self.started = self.resets + 1, set()
            self.started.add(compile_id)
        return f"{compile_id}#{self.resets}" if self.resets else compile_id

    def enter(self, phase: str) -> None:
        self.phase = phase
        if not phase.startswith("capture "):
            self.resets, self.started = 0, set()


class _Reading:
    """The reading of one file, in which several processes may have written: up to 2.12 forks share
    their parent's."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names
        self.processes: dict[int, _Process] = {}
        self.texts: dict[str, str] = {}  # one copy of what is repeated
        self.frames: dict[tuple, Frame] = {}
        self.room = limits.GUARD_TREES  # for guard trees: they are long, and few are looked at

    def records(self, blocks: Iterable[Block]) -> Iterator[Record]:
        for number, head, payload in blocks:
            header = decode(head)
            if header is None:
                continue
            process = self.processes.get(number)
            if process is None:
                process = self.processes[number] = _Process(dict(self.names))
            if header.interned is not None:
                path, index = header.interned
                process.names[index] = path = path.replace("\0", "?")[: limits.LONGEST_PATH]
                self.names.setdefault(index, path)
            elif header.artifact is not None and header.artifact.name == PHASE:
                process.enter(_text(payload))
            elif kind := header.kind:
                yield self._record(number, process, header, kind, payload)

    def _record(
        self, number: int, process: _Process, header: Header, kind: str, payload: bytes
    ) -> Record:
        name, data, text = "", None, ""
        if header.artifact is not None:
            name, text = header.artifact.name, _text(payload)
        elif header.dynamo_start is not None:
            data = {
                "stack": tuple(self._frame(frame, process) for frame in header.dynamo_start.stack)
            }
        elif header.dynamo_output_graph is not None:
            data = {"ops": op_names(_text(payload))}
        elif header.dynamo_cpp_guards_str is not None:
            data = payload if len(payload) <= self.room else b""
            self.room -= len(data)
        elif header.compilation_metrics is not None:
            data = header.compilation_metrics
            data.co_name = (data.co_name or "")[: limits.LONGEST_NAME]
            data.co_filename = (data.co_filename or "").replace("\0", "?")[: limits.LONGEST_PATH]
            config = data.dynamo_config or ""
            data.dynamo_config = self.texts.setdefault(config, config)
            data.fail_user_frame_filename = (data.fail_user_frame_filename or "").replace(
                "\0", "?"
            )[: limits.LONGEST_PATH]
        compile_id = process.compile_id(header, kind)
        return Record(
            kind,
            data,
            name,
            self.texts.setdefault(text, text),
            compile_id,
            header.attempt or 0,
            process.phase,
            number,
            header.rank,
        )

    def _frame(self, frame: StackFrame, process: _Process) -> Frame:
        file = frame.filename
        path = (
            process.names.get(file, "")
            if isinstance(file, int)
            else file.replace("\0", "?")[: limits.LONGEST_PATH]
        )
        place = (path, frame.line, frame.name[: limits.LONGEST_NAME])
        known = self.frames.get(place)
        if known is None:
            known = self.frames[place] = Frame(*place)
        return known


def _blocks(stream: BinaryIO) -> Iterator[Block]:
    """Every record of a wanted kind."""
    buffer = b"\n"
    while True:
        chunk = stream.read(limits.CHUNK)
        blocks, buffer = _split(buffer + chunk, ended=not chunk)
        yield from blocks
        if not chunk:
            return


def _split(buffer: bytes, ended: bool) -> tuple[list[Block], bytes]:
    """The records that the buffer holds whole, and what is left of it: nothing where the file has
    `ended`."""
    blocks: list[Block] = []
    position = 0
    while found := HEADER.search(buffer, position):
        end = NEXT.search(buffer, found.end())
        if end is None and not ended and len(buffer) - found.start() < limits.LARGEST_RECORD:
            break
        position = end.start() if end else len(buffer)
        blocks.append((int(found["process"]), found["json"], buffer[found.end() : position]))
    rest = buffer[found.start() if found else max(position, buffer.rfind(b"\n"), 0) :]
    if not found and len(rest) > limits.LARGEST_RECORD:
        rest = rest[-limits.CHUNK :].lstrip(b"\n")  # the middle of a line that is no record
    return blocks, rest


def _text(payload: bytes) -> str:
    """The payload: the lines that start with a tab, without it."""
    if payload.count(b"\n") != payload.count(b"\n\t"):
        payload = b"".join(b"\n" + line for line in payload.split(b"\n") if line.startswith(b"\t"))
    return payload[2:].replace(b"\n\t", b"\n").replace(b"\0", b"?").decode("utf-8", "replace")
