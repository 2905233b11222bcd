"""One reader for everything that the child process left: folder -> Observations."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from breakscope.dynamic.observations.breaks import read_breaks
from breakscope.dynamic.observations.compiles import (
    is_limit,
    read_compiles,
    read_graphs,
    resume_seconds,
    skipped_frames,
)
from breakscope.dynamic.observations.cuda_graphs import read_cuda_graphs
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.recompiles import read_recompiles
from breakscope.dynamic.trace.phases import AFTERWARDS
from breakscope.dynamic.trace.records import Record, read_trace
from breakscope.dynamic.trace.text_log import LogMessage, read_log
from breakscope.report.model import SkippedFrame

Marked = TypeVar("Marked", Record, LogMessage)
TRACED = "TRACE starts_line "
SWITCHED_ON = re.compile(r'"(\w+)": true')
CAPTURE = "capture"


def read_folder(folder: Path, places: Places, phase: str = CAPTURE) -> Observations:
    """Read a run's folder: trace/, log.txt. `phase`: the one to read, or what those to read begin
    with."""
    return read_records(
        read_trace(folder / "trace"),
        list(read_log(folder / "log.txt")),
        places,
        registry(places.torch),
        phase,
    )


def read_records(
    records: Sequence[Record],
    messages: Sequence[LogMessage],
    places: Places,
    ids: dict[str, str],
    phase: str = CAPTURE,
) -> Observations:
    """The observations of the capture phase; of everything when the trace has no phase markers."""
    during = _captured(records, phase)
    logged = _captured(messages, phase)
    compiles = read_compiles(during)
    found = read_breaks(during, logged, compiles, places, ids)
    breaks = tuple(each for each in found if not each.raised)
    recompiles = read_recompiles(during, compiles, places)
    return Observations(
        breaks=breaks,
        errors=tuple(each for each in found if each.raised),
        recompiles=tuple(seen for seen in recompiles if not seen.refused),
        refused=tuple(seen for seen in recompiles if seen.refused),
        graphs=read_graphs(during, compiles),
        skipped_frames=_with_later(skipped_frames(compiles, breaks, places), records, places),
        cuda_graphs=read_cuda_graphs(during, logged, compiles, places),
        compile_seconds=sum(compile.seconds for compile in compiles.values()),
        resume_seconds=resume_seconds(compiles),
        traced=traced_lines(logged, places),
        records=len(during),
        compiles=tuple(compiles.values()),
        switches=_switches(during),
        self_tests=_self_tests(records),
    )


def _captured(marked: Sequence[Marked], phase: str) -> list[Marked]:
    """What belongs to the capture; all when nothing is marked, as in a text log of a program that is
    not ours."""
    if not any(each.phase for each in marked):
        return list(marked)
    if phase == CAPTURE:
        return [each for each in marked if each.phase.startswith(CAPTURE)]
    return [each for each in marked if each.phase == phase]


def _with_later(
    skipped: tuple[SkippedFrame, ...], records: Sequence[Record], places: Places
) -> tuple[SkippedFrame, ...]:
    """The skipped frames, and before them those that reach their recompile limit in further calls
    behind the capture."""
    if not any(record.phase == AFTERWARDS for record in records):
        return skipped
    known = {(frame.path, frame.line, frame.why, frame.resumed_at) for frame in skipped}
    every = read_compiles(
        [r for r in records if r.phase == AFTERWARDS or r.phase.startswith(CAPTURE)]
    )
    limited = {i: c for i, c in every.items() if c.failed and is_limit(c.fail_reason)}
    later = (
        frame
        for frame in skipped_frames(limited, (), places)
        if (frame.path, frame.line, frame.why, frame.resumed_at) not in known
    )
    return (*later, *skipped)


def traced_lines(messages: Iterable[LogMessage], places: Places) -> dict[str, frozenset[int]]:
    """The user's lines that Dynamo traced: a prediction there without a break was wrong."""
    lines: dict[str, set[int]] = defaultdict(set)
    for message in messages:
        if not message.text.startswith(TRACED):
            continue
        place = message.text[len(TRACED) :].partition(" in ")[0]
        path, _, line = place.rpartition(":")
        if line.isdigit() and places.is_user(path):
            lines[path].add(int(line))
    return {path: frozenset(found) for path, found in lines.items()}


def registry(torch_root: str) -> dict[str, str]:
    """GB ids by type, from the registry that torch ships; empty where it ships none."""
    ids: dict[str, str] = {}
    try:
        registry = json.loads(
            (Path(torch_root) / "_dynamo" / "graph_break_registry.json").read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return ids
    for gb_id, entries in registry.items():
        for entry in entries if isinstance(entries, list) else ():
            ids.setdefault(entry.get("Gb_type", ""), gb_id)
    return ids


def _switches(records: Iterable[Record]) -> frozenset[str]:
    """Those of Dynamo's configuration that were on in all compiles that name it."""
    configs = {
        record.data.dynamo_config
        for record in records
        if record.kind == "compilation_metrics" and record.data.dynamo_config
    }
    found = [frozenset(SWITCHED_ON.findall(config)) for config in configs]
    return frozenset.intersection(*found) if found else frozenset()


def _self_tests(records: Iterable[Record]) -> int:
    return len(
        {
            r.phase
            for r in records
            if r.phase.startswith("self-test")
            and r.name == "dynamo_graph_break_reason"
            and "graph_break()" in r.payload
        }
    )
