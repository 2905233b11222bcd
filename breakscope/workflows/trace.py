"""breakscope trace, and breakscope report on traces: what Dynamo did in a program, in the words of
our rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from breakscope import __version__
from breakscope.dynamic import (
    Look,
    RunResult,
    TraceOptions,
    at_users_lines,
    read_result,
    trace_program,
)
from breakscope.report.model import Finding, Report
from breakscope.source_roots import only_below
from breakscope.static import analyze
from breakscope.workflows.joining import gaps_as_notes, join_run, passed_through, static_options
from breakscope.workflows.silencing import silenced


def trace(options: TraceOptions, watch: Callable[[Look], None] | None) -> Report:
    """Run a command and report on it; raises UserError when it cannot be started."""
    return explain(trace_program(options, watch), options.rules)


def read(
    paths: Sequence[Path], rules: Sequence[str], source_roots: Sequence[str | Path] = (".",)
) -> Report:
    """Report on traces that exist, those of several nodes as one; raises UserError when there is
    none in them.

    Of the files that they name, those below the source roots are read, and no other.
    """
    first, *others = paths
    with only_below(source_roots):
        return explain(read_result(first, rules, others), rules)


def explain(
    ran: RunResult, rules: Sequence[str], source: bool = True, entries: tuple[str, ...] = ()
) -> Report:
    """What was seen, joined with what source analysis finds at the same lines: the cause in our
    words, and its fix.

    Lines where nothing was seen are left out: the program may not have come there, or not compiled
    them. Without `source` nothing is analysed, and so nothing was missed. `entries` are functions
    or classes (FILE::NAME) that are known to be compiled.
    """
    files = passed_through(ran.findings) if source else ()
    report = Report(version=__version__, torch=ran.torch_version)
    if files:
        known = {os.path.realpath(file) for file in files}
        met = tuple(e for e in entries if os.path.realpath(e.rpartition("::")[0]) in known)
        asked = msgspec.structs.replace(static_options(ran, rules), entries=met)
        static = analyze(files, asked)
        report = msgspec.structs.replace(
            report,
            findings=static.findings,
            notes=(*static.notes, *gaps_as_notes(static.gaps)),
        )
    report = join_run(report, ran)
    if not source:
        report = msgspec.structs.replace(report, missed=0)
    report = msgspec.structs.replace(
        report,
        findings=at_users_lines(f for f in report.findings if _was_seen(f)),
    )
    return silenced(report)


def _was_seen(finding: Finding) -> bool:
    return finding.evidence in ("observed", "confirmed")
