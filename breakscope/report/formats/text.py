"""For people: at most eight lines a finding on a terminal of 80 columns or more, and at the end what
it comes to and what to do first."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.report.combining.cells import in_cells
from breakscope.report.formats import RenderOptions
from breakscope.report.model import Report
from breakscope.report.ranking import ranked
from breakscope.report.summary import count, summary


def render(report: Report, options: RenderOptions) -> str:
    report = in_cells(report)
    if options.diff_only and report.fixes is not None:
        from breakscope.report.formats._fixes import diff_text

        return diff_text(report.fixes, options.color)
    if options.statistics:
        from breakscope.report.formats._overview import statistics

        counts = statistics(report.findings)
        rest = render(replace(report, findings=()), replace(options, statistics=False, quiet=True))
        return f"{counts}{rest}" + ("" if options.quiet else f"{summary(report)}\n")
    shown = report.findings or report.errors or report.gaps or report.run or report.notes
    if not (shown or report.fixes or report.budgets or report.baseline):
        return "" if options.quiet else f"{summary(report)}\n"
    from breakscope.report.formats import _blocks, _finding, _fixes, _overview
    from breakscope.report.formats._layout import EMPTY, paint
    from breakscope.report.formats.of_runs import modules, proved, radar

    lines = _blocks.run_lines(report, options.width)
    findings = ranked(report.findings)
    groups = _overview.blocks(findings, not (options.fixes or report.fixes))
    shown = groups[: options.top] if options.top else groups
    for group in shown:
        finding = group[0]
        lines += _finding.finding_lines(finding, options.width)
        lines += _fixes.reason_lines(report, finding, options.width)
        lines += _overview.equal_places(group, options.width)
        lines += [*(_finding.fix_lines(finding) if options.fixes else ()), EMPTY]
    if left := len(findings) - sum(map(len, shown)):
        lines += [
            [(f"and {count(left, 'more finding')} (--top {len(groups)} shows all)", "dim")],
            EMPTY,
        ]
    for error in report.errors:
        lines += [*_blocks.error_lines(error, options.width), EMPTY]
    for gap in report.gaps:
        lines += [*_blocks.gap_lines(gap, options.width), EMPTY]
    lines += modules.module_lines(report, options.width)
    lines += radar.radar_lines(report, options.width)
    lines += _fixes.fix_lines(report, options.width, options.fixes)
    lines += proved.proved_lines(report, options.width)
    lines += _blocks.budget_lines(report.budgets, options.width)
    lines += _blocks.baseline_lines(report.baseline, options.width)
    if not options.quiet:
        lines += _blocks.last_lines(report, options.width)
    return paint(lines, options.color)
