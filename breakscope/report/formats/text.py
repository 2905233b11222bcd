"""For people: at most six lines a finding on a terminal of 80 columns or more, and one line that
sums up."""

from __future__ import annotations

from breakscope.report.formats import RenderOptions
from breakscope.report.model import Report
from breakscope.report.ranking import ranked
from breakscope.report.summary import summary


def render(report: Report, options: RenderOptions) -> str:
    if not (report.findings or report.errors or report.gaps or report.run or report.notes):
        return f"{summary(report)}\n"
    from breakscope.report.formats import _blocks, _finding, _modules, _radar
    from breakscope.report.formats._layout import EMPTY, paint

    lines = _blocks.run_lines(report, options.width)
    for finding in ranked(report.findings):
        lines += [*_finding.finding_lines(finding, options.width)]
        lines += [*(_finding.fix_lines(finding) if options.fixes else ()), EMPTY]
    for error in report.errors:
        lines += [*_blocks.error_lines(error, options.width), EMPTY]
    for gap in report.gaps:
        lines += [*_blocks.gap_lines(gap, options.width), EMPTY]
    lines += _modules.module_lines(report, options.width)
    lines += _radar.radar_lines(report, options.width)
    lines += _blocks.summary_lines(summary(report), options.width)
    return paint(lines, options.color)
