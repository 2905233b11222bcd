"""Puts what a run saw into a report of source analysis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from breakscope.dynamic import RunResult, at_users_lines, library_of
from breakscope.reading import is_file
from breakscope.report.combining.join import join_findings
from breakscope.report.model import SEEN, Finding, Gap, Report
from breakscope.report.summary import gap_text
from breakscope.source_roots import may_read
from breakscope.static import StaticOptions, analyze


def join_run(report: Report, ran: RunResult) -> Report:
    """The report of source analysis, joined with the run."""
    joined = join_findings(report.findings, ran.findings, ran.traced, ran.run.lost_frames)
    return msgspec.structs.replace(
        report,
        torch=ran.torch_version or report.torch,
        findings=joined.findings,
        errors=(*report.errors, *ran.errors),
        run=ran.run,
        missed=joined.missed,
        refuted=joined.refuted,
    )


def in_our_words(report: Report, ran: RunResult, rules: Sequence[str]) -> Report:
    """The report, with our words and fixes for breaks that only the run saw, as in a library that a
    factory reaches by ways which source does not show: where source analysis of the files they
    passed through, whoever enters them, names the same problem. They stay `observed`: of the
    checked code they were not predicted.
    """
    unpredicted = [f for f in report.findings if f.kind == "break" and f.evidence == "observed"]
    files = passed_through(unpredicted)
    if not files:
        return _at_users_lines(report)
    static = analyze(files, static_options(ran, rules))
    worded = join_findings(
        [f for f in static.findings if f.kind == "break"], unpredicted, {}
    ).findings
    named = [
        msgspec.structs.replace(finding, evidence="observed", library=library_of(finding.path))
        for finding in worded
        if finding.evidence in SEEN
    ]
    others = [f for f in report.findings if f not in unpredicted]
    return _at_users_lines(msgspec.structs.replace(report, findings=(*others, *named)))


def _at_users_lines(report: Report) -> Report:
    return msgspec.structs.replace(report, findings=at_users_lines(report.findings))


def gaps_as_notes(gaps: Iterable[Gap]) -> tuple[str, ...]:
    """Where the analysis gave up, for a report that a run decides."""
    return tuple(f"{gap.path}:{gap.line}: {gap_text(gap)}" for gap in gaps)


def passed_through(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The files that hold findings or a call on the way to them, those that are there and may be
    read."""
    paths = dict.fromkeys(
        path for f in findings for path in (f.path, *(link.path for link in f.chain))
    )
    return tuple(path for path in paths if is_file(path) and may_read(path))


def static_options(ran: RunResult, rules: Sequence[str]) -> StaticOptions:
    """As if the torch of the run were the installed one."""
    return StaticOptions(
        torch=ran.torch_version.partition("+")[0] or None,
        extra_rules=tuple(rules),
        silence=False,  # see silencing.py
    )
