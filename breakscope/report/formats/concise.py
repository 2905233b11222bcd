"""One line for each finding, for editors and grep: path:line:column: CODE message."""

from __future__ import annotations

from breakscope.report.formats import RenderOptions
from breakscope.report.model import Finding, Report
from breakscope.report.summary import gap_text


def render(report: Report, options: RenderOptions) -> str:
    lines = [
        f"{f.path}:{f.line}:{f.column}: {f.code} {_one_line(f.message)}{_evidence(f)}"
        for f in report.findings
    ]
    for error in report.errors:
        place = f"{error.path}:{error.line or 1}:1: " if error.path else ""
        lines.append(f"{place}error: {_one_line(error.message)}")
    for gap in report.gaps:
        place = f"{gap.path}:{gap.line or 1}:1: " if gap.path else ""
        lines.append(f"{place}gap: {_one_line(gap_text(gap))}")
    return "".join(f"{line}\n" for line in lines)


def _evidence(finding: Finding) -> str:
    return "" if finding.evidence == "predicted" else f" [{finding.evidence}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())
