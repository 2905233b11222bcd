"""Puts what a run saw into a report of source analysis."""

from __future__ import annotations

import msgspec

from breakscope.dynamic import RunResult
from breakscope.report.join import join_findings
from breakscope.report.model import Report


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
