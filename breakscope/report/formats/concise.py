"""One line for each finding, for editors and grep: path:line:column: CODE message."""

from __future__ import annotations

from breakscope.report.combining.cells import in_cells
from breakscope.report.conditions import only_when
from breakscope.report.escaping import in_one_line, visible, visible_line
from breakscope.report.formats import RenderOptions
from breakscope.report.model import Finding, Report
from breakscope.report.summary import elsewhere_text, gap_text


def render(report: Report, options: RenderOptions) -> str:
    report = in_cells(report)
    lines = [
        f"{visible(f.path)}:{f.line}:{f.column}: {f.code} {in_one_line(f.message)}{_evidence(f)}"
        for f in report.findings
    ]
    for error in report.errors:
        place = f"{visible(error.path)}:{error.line or 1}:1: " if error.path else ""
        lines.append(f"{place}error: {in_one_line(error.message)}")
    for gap in report.gaps:
        place = f"{visible(gap.path)}:{gap.line or 1}:1: " if gap.path else ""
        lines.append(f"{place}gap: {in_one_line(gap_text(gap))}")
    if report.elsewhere:
        lines.append(f"note: {in_one_line(elsewhere_text(report))}")
    return "".join(f"{visible_line(line)}\n" for line in lines)


def _evidence(finding: Finding) -> str:
    words = only_when(finding)
    seen = "" if finding.evidence == "predicted" else f" [{finding.evidence}]"
    return f", {in_one_line(words)}{seen}" if words else seen
