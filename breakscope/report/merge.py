"""Several reports as one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from breakscope.report.model import Finding, Report, ReportError


def merge(reports: Sequence[Report]) -> Report:
    """Reports of different places: findings and errors together, each once; numbers are added up.

    The first run is kept as the report's run: `Report` has room for one.
    """
    first, *others = reports
    if not others:
        return first
    return msgspec.structs.replace(
        first,
        findings=_findings(reports),
        errors=_errors(reports),
        files=sum(r.files for r in reports),
        regions=sum(r.regions for r in reports),
        run=next((r.run for r in reports if r.run is not None), None),
        missed=sum(r.missed for r in reports),
        refuted=sum(r.refuted for r in reports),
        hidden=sum(r.hidden for r in reports),
    )


def together(report: Report, part: Report) -> Report:
    """A report and a second look at a part of the same places: what the second look adds, without counting twice."""
    return msgspec.structs.replace(
        report,
        findings=_findings((report, part)),
        errors=_errors((report, part)),
        files=max(report.files, part.files),
        regions=max(report.regions, part.regions),
    )


def _findings(reports: Sequence[Report]) -> tuple[Finding, ...]:
    """Findings by place; the surer one where reports differ in nothing else."""
    best: dict[tuple, Finding] = {}
    for finding in (f for report in reports for f in report.findings):
        same = (finding.path, finding.line, finding.column, finding.code)
        if same not in best or _sureness(finding) > _sureness(best[same]):
            best[same] = finding
    return tuple(sorted(best.values(), key=Finding.place))


def _sureness(finding: Finding) -> tuple[int, int]:
    return (
        ("predicted", "refuted", "observed", "confirmed").index(finding.evidence),
        ("possible", "likely", "certain").index(finding.confidence),
    )


def _errors(reports: Sequence[Report]) -> tuple[ReportError, ...]:
    return tuple(dict.fromkeys(error for report in reports for error in report.errors))
