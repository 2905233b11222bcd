"""Traces of any origin, read: a TORCH_TRACE folder, one of its files, or a saved text log."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from breakscope.dynamic.observations.distributed import divergence, together
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records, registry
from breakscope.dynamic.trace.dialects import (
    as_version,
    dialect,
    ids_by_type,
    limits,
    version_of,
)
from breakscope.dynamic.trace.processes import (
    Process,
    cut_files,
    in_order,
    read_processes,
    torch_root,
)
from breakscope.dynamic.trace.text_log import read_log
from breakscope.dynamic.trace.text_records import processes_of_log
from breakscope.environment import import_folders
from breakscope.report.run_modes import Divergence
from breakscope.report.run_modes import Process as ProcessFact
from breakscope.source_roots import may_read


@dataclass(frozen=True)
class Traced:
    """What traces hold. `torch_version` is "" where they do not name it, and torch is not where it
    was then."""

    seen: Observations
    processes: tuple[ProcessFact, ...]
    divergence: Divergence | None
    torch_version: str
    python_version: str
    notes: tuple[str, ...]
    cut: tuple[Path, ...] = ()  # files that end in the middle of a record


def read_traced(*paths: Path) -> Traced:
    """Read folders and files, such as one folder of each node, as one; what cannot be read in them
    is left out."""
    traces, logs = [], []
    for path in paths:
        found = read_processes(path)
        traces += found
        if not found and path.is_file():
            logs += processes_of_log(list(read_log(path)))
    traced = understand(in_order([*traces, *logs]), text_log=bool(logs))
    return replace(traced, cut=tuple(file for path in paths for file in cut_files(path)))


def understand(
    processes: list[Process], *, text_log: bool = False, root: str = "", version: str = ""
) -> Traced:
    """What the records of processes hold; torch's folder and version are looked for in them where
    they are not given."""
    root, version, ids = torch_of(processes, root, version)
    places = Places.here(root)
    parts = [
        (process, read_records(process.records, process.messages, places, ids))
        for process in processes
    ]
    parts = [
        (process, seen) for process, seen in parts if seen.records or seen.breaks or seen.errors
    ]
    seen = together(parts) if parts else Observations()
    notes = (
        limits(version, _dialect(version, processes), text_log, bool(seen.recompiles))
        if parts
        else ()
    )
    return Traced(
        seen,
        tuple(_fact(*part) for part in parts),
        divergence(parts),
        version,
        _python(processes),
        notes,
    )


def torch_of(
    processes: list[Process], root: str = "", version: str = ""
) -> tuple[str, str, dict[str, str]]:
    """The folder and the version of the torch that wrote the records, "" where they do not show it,
    and its GB ids by type."""
    root = root or torch_root(processes)
    readable = root if _may_read_torch(root) else ""
    version = version or _version(processes, readable)
    return root, version, registry(readable) or ids_by_type(version)


def _may_read_torch(root: str) -> bool:
    """The installed torch may be read, whoever names it."""
    return may_read(root) or root in (os.path.join(f, "torch") for f in import_folders())


def _dialect(version: str, processes: list[Process]) -> tuple[int, int]:
    records = [record for process in processes for record in process.records]
    breaks = [record.payload for record in records if record.name == "dynamo_graph_break_reason"]
    breaks += [
        message.text
        for process in processes
        for message in process.messages
        if message.artifact == "graph_breaks"
    ]
    return dialect(
        version,
        breaks,
        (record.payload for record in records if record.name == "recompile_reasons"),
    )


def _fact(process: Process, seen: Observations) -> ProcessFact:
    return ProcessFact(
        pid=process.number,
        rank=process.rank,
        compiles=len(seen.compiles),
        breaks=len(seen.breaks),
        recompiles=len(seen.recompiles),
        compile_seconds=round(seen.compile_seconds, 6),
    )


def _version(processes: list[Process], root: str) -> str:
    """The version that the traces name; up to 2.9 they do not, and then that in torch's own file,
    where it is on this machine."""
    for record in (record for process in processes for record in process.records):
        if record.name == "torch_version" and (version := version_of(record.payload)):
            return version
        if record.kind == "compilation_metrics" and (
            version := as_version(record.data.pytorch_version)
        ):
            return version
    try:
        text = (Path(root) / "version.py").read_text(encoding="utf-8") if root else ""
    except (OSError, ValueError):
        return ""
    found = re.search(r"^__version__ = '([^']*)'", text, re.MULTILINE)
    return as_version(found[1]) if found else ""


def _python(processes: list[Process]) -> str:
    """Python's version, which traces name from torch 2.8 on."""
    metrics = (
        r.data for process in processes for r in process.records if r.kind == "compilation_metrics"
    )
    named = next((m.python_version for m in metrics if m.python_version), "")
    return as_version(named.partition(" ")[0])
