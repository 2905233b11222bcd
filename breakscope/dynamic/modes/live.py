"""A traced program while it runs: what Dynamo has reported so far, and each break and recompile as it
comes, in the words of the report."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.findings.matching import make_findings, recompile_finding
from breakscope.dynamic.findings.recompile_advice import of_one_name
from breakscope.dynamic.findings.users_line import at_users_lines
from breakscope.dynamic.findings.wording import cause
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records
from breakscope.dynamic.observations.traces import torch_of
from breakscope.dynamic.trace.processes import Process, trace_files
from breakscope.dynamic.trace.records import Growing, Record
from breakscope.report.model import Finding
from breakscope.rulekit.loader import load_rules
from breakscope.rulekit.rule import Rule

BREAK, RECOMPILE = "dynamo_graph_break_reason", "recompile_reasons"


@dataclass(frozen=True)
class Look:
    """What a look at a running program shows: events so far, before those of one place are put
    together; and a line for each place that broke and each recompile since the last look."""

    compiles: int = 0
    breaks: int = 0
    recompiles: int = 0
    lines: tuple[str, ...] = ()


@dataclass
class Live:
    """Follows the traces in a folder; `look` reads only what is new. A fault of ours ends the list,
    and not the program that is followed."""

    folder: Path
    rules: Sequence[str]
    tails: dict[Path, Growing] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    # by process and frame: what its events are understood by
    frames: dict[tuple[int, str], list[Record]] = field(default_factory=dict)
    shown: set[tuple] = field(default_factory=set)
    root: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def look(self) -> Look:
        try:
            lines = () if self.failed else tuple(self._new())
        except Exception:
            if os.environ.get("BREAKSCOPE_DEBUG"):
                raise
            lines, self.failed = (), True
        return Look(self.counts["dynamo_start"], self.counts[BREAK], self.counts[RECOMPILE], lines)

    def _new(self) -> Iterator[str]:
        touched: dict[tuple[int, str], None] = {}
        for file in sorted(trace_files(self.folder)):
            tail = self.tails.setdefault(file, Growing(file, self.names))
            for record in tail.look():
                self.counts[record.name or record.kind] += 1
                if record.kind == "dynamo_output_graph":
                    continue
                frame = (record.process, record.compile_id.partition("/")[0])
                self.frames.setdefault(frame, []).append(record)
                if record.name in (BREAK, RECOMPILE) or _failed(record):
                    touched[frame] = None
        if not touched or len(self.shown) > limits.MOST_LIVE_LINES:
            return
        rules, places = tuple(load_rules(tuple(self.rules))), self._places()
        for process, frame in touched:
            records = self.frames[process, frame]
            seen = read_records(records, (), places, self.ids)
            rank = next((r.rank for r in reversed(records) if r.rank is not None), None)
            for key, line in _events(seen, rules):
                if key in self.shown:
                    continue
                self.shown.add(key)
                yield line if rank is None else f"rank {rank}: {line}"
                if len(self.shown) > limits.MOST_LIVE_LINES:
                    yield "further events are only counted"
                    return

    def _places(self) -> Places:
        if not self.ids:
            everything = tuple(record for records in self.frames.values() for record in records)
            self.root, _, self.ids = torch_of([Process(0, None, everything)])
        return Places.here(self.root)


def _failed(record: Record) -> bool:
    """A compile that ended without a graph, for a reason that Dynamo may report nowhere else."""
    return record.kind == "compilation_metrics" and bool(record.data.fail_reason)


def _events(seen: Observations, rules: tuple[Rule, ...]) -> Iterator[tuple[tuple, str]]:
    """A line for each place that broke, each recompile and each limit that was reached, by what
    tells it apart: on another rank the same is nothing new."""
    here, breaks = Path.cwd(), replace(seen, recompiles=(), refused=())
    for finding in at_users_lines(make_findings(breaks, rules, here)):
        key = (finding.path, finding.line, finding.code, finding.dynamo)
        yield key, f"{_place(finding)} {finding.message}"
    for recompile in seen.recompiles:
        if recompile.site is None:
            continue
        (finding,) = at_users_lines([recompile_finding([recompile], rules, here)])
        key = (finding.path, finding.line, recompile.frame.compile_id, finding.dynamo)
        why = cause(of_one_name(recompile), recompile.frame.resumed_at)
        yield key, f"{_place(finding)} compiled again: {why}"


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}: {finding.code}"
