"""breakscope trace, and breakscope report on traces: what Dynamo did in a program, in the words of
our rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from breakscope import __version__
from breakscope.dynamic import (
    Look,
    RunResult,
    TraceOptions,
    at_users_lines,
    read_result,
    trace_fully,
)
from breakscope.report.model import SEEN, Finding, Report
from breakscope.source_roots import only_below
from breakscope.static import analyze
from breakscope.workflows.joining import gaps_as_notes, join_run, passed_through, static_options
from breakscope.workflows.silencing import silenced


def trace(
    options: TraceOptions,
    watch: Callable[[Look], None] | None,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a command and report on it; `say` receives what `prove` tries. Raises UserError when it
    cannot be started."""
    return explain(trace_fully(options, watch, say), options.rules)


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
    report = _joined(ran, rules, entries) if source else _unjoined(ran)
    report = msgspec.structs.replace(
        report,
        findings=at_users_lines(f for f in report.findings if f.evidence in SEEN),
    )
    return silenced(report)


def _unjoined(ran: RunResult) -> Report:
    report = join_run(Report(version=__version__, torch=ran.torch_version), ran)
    return msgspec.structs.replace(report, missed=0)


def _joined(ran: RunResult, rules: Sequence[str], entries: tuple[str, ...]) -> Report:
    """With what source analysis predicts in the files where something was seen."""
    report = Report(version=__version__, torch=ran.torch_version)
    files = passed_through(ran.findings)
    if not files:
        return join_run(report, ran)
    known = {os.path.realpath(file) for file in files}
    met = tuple(e for e in entries if os.path.realpath(e.rpartition("::")[0]) in known)
    options = static_options(ran, rules)
    static = analyze(files, msgspec.structs.replace(options, entries=met))
    report = msgspec.structs.replace(
        report, findings=static.findings, notes=(*static.notes, *gaps_as_notes(static.gaps))
    )
    joined = join_run(report, ran)
    compiled = _compiled_elsewhere(joined.findings)
    if not compiled:
        return joined
    more = analyze(files, msgspec.structs.replace(options, entries=compiled)).findings
    others = {(f.path, f.line, f.column, f.code) for f in report.findings}
    new = (f for f in more if (f.path, f.line, f.column, f.code) not in others)
    return join_run(msgspec.structs.replace(report, findings=(*report.findings, *new)), ran)


def _compiled_elsewhere(findings: Iterable[Finding]) -> tuple[str, ...]:
    """FILE::NAME of the functions in which a run saw what source analysis did not: their own file
    does not show that another one, or another cell, compiles them."""
    found: dict[str, None] = {}
    for finding in findings:
        inside = [link for link in finding.chain if link.function != "<module>"]
        path, function = (
            (inside[0].path, inside[0].function) if inside else (finding.path, finding.function)
        )
        # of methods and nested functions, the class or function around them would be named
        if finding.evidence == "observed" and function.isidentifier():
            found[f"{path}::{function}"] = None
    return tuple(found)
