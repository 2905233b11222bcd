"""A folder of traces, process by process: each has compile ids of its own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from breakscope.dynamic.trace.records import Record, read_trace_file
from breakscope.dynamic.trace.text_log import LogMessage, read_log
from breakscope.source_roots import is_below

# beside the traces: torch's log, warnings unless TORCH_LOGS sets more
TEXT_LOG = "torch_logs.txt"
BEGUN = re.compile(rb"[A-Z](\d{4} \d\d:\d\d:\d\d\.\d+) ")
RANK_IN_NAME = re.compile(r"_rank_(\d{1,9})_")
TORCH = re.compile(
    r"^(?P<root>.*[/\\]torch)[/\\](?:_dynamo|_compile\.py|nn[/\\]modules|_inductor|_functorch)\b"
)


@dataclass(frozen=True)
class Process:
    """What one process wrote. `rank` is its rank in a process group, None outside of one."""

    number: int
    rank: int | None
    records: tuple[Record, ...] = ()
    messages: tuple[LogMessage, ...] = ()

    @property
    def label(self) -> str:
        return f"pid{self.number}" if self.rank is None else f"rank{self.rank}"


def read_processes(path: Path) -> list[Process]:
    """The processes of a folder of traces, or of one file, by rank and then in the order in which
    they began."""
    names: dict[int, str] = {}
    logged: dict[int, list[LogMessage]] = {}
    texts = path.rglob(TEXT_LOG) if path.is_dir() else ()
    for file in (text for text in texts if text.is_file() and is_below(text, path)):
        for message in read_log(file):
            logged.setdefault(message.process, []).append(message)
    found = []
    for file in sorted(trace_files(path), key=_begun):
        by_number: dict[int, list[Record]] = {}
        for record in read_trace_file(file, names):
            by_number.setdefault(record.process, []).append(record)
        for number, records in by_number.items():
            found.append(
                Process(number, _rank(records, file), tuple(records), tuple(logged.get(number, ())))
            )
    return in_order(found)


def in_order(processes: list[Process]) -> list[Process]:
    """By rank, those without one last; the order among equals stays."""
    return sorted(processes, key=lambda process: (process.rank is None, process.rank or 0))


def trace_files(path: Path) -> list[Path]:
    """The .log files of a folder and of the folders below it: many nodes write into one shared
    folder. Links that lead out of it are not followed."""
    if path.is_file():
        return [path]
    return [f for f in path.rglob("*.log") if f.is_file() and is_below(f, path)]


def cut_files(path: Path) -> list[Path]:
    """The traces that were cut, as by a full disk: torch ends each record with a line break."""
    return [file for file in trace_files(path) if _is_cut(file)]


def _is_cut(file: Path) -> bool:
    try:
        with open(file, "rb") as stream:
            return bool(stream.seek(0, os.SEEK_END) and stream.seek(-1, os.SEEK_END)) and (
                stream.read(1) != b"\n"
            )
    except OSError:
        return False


def torch_root(processes: list[Process]) -> str:
    """Where torch was installed on the machine that wrote the traces; "" when no stack shows it."""
    seen: set[str] = set()
    for process in processes:
        for record in process.records:
            if record.kind != "dynamo_start":
                continue
            for frame in record.data["stack"]:
                if frame.path not in seen:
                    seen.add(frame.path)
                    if match := TORCH.match(frame.path):
                        return match["root"]
    return ""


def _rank(records: list[Record], file: Path) -> int | None:
    recorded = next((record.rank for record in records if record.rank is not None), None)
    named = RANK_IN_NAME.search(file.name)
    return int(named[1]) if recorded is None and named else recorded


def _begun(file: Path) -> tuple[bytes, str]:
    try:
        with open(file, "rb") as stream:
            match = BEGUN.match(stream.read(64))
    except OSError:
        match = None
    return (match[1] if match else b"", file.name)
