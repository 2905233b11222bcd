"""For a comment on a pull request: what it comes to and what to do first, then one row for each
finding."""

from __future__ import annotations

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.conditions import only_when
from breakscope.report.formats import RenderOptions
from breakscope.report.formats import _markdown as md
from breakscope.report.formats._words import places
from breakscope.report.model import Finding, Report
from breakscope.report.ranking import ranked
from breakscope.report.summary import asides, count, gap_text, how_bad
from breakscope.report.verdict import verdict


def render(report: Report, options: RenderOptions) -> str:
    lines = [f"**breakscope:** {md.text(how_bad(report))}", ""]
    for line in verdict(report):
        label, _, words = line.partition(": ")
        lines.append(f"- **{label}**: {md.text(words)}")
    for budget in report.budgets:
        lines.append(f"- **{budget.label}**: {md.text(budget.what)}")
    for error in report.errors:
        place = f"{md.code(f'{error.path}:{error.line or 1}')} " if error.path else ""
        lines.append(f"- **error**: {place}{md.text(error.message)}")
    for gap in report.gaps:
        place = f"{md.code(f'{gap.path}:{gap.line or 1}')} " if gap.path else ""
        lines.append(f"- **gap**: {place}{md.text(gap_text(gap))}")
    notes = (*report.notes, *(report.run.notes if report.run else ()), asides(report))
    lines += [f"- note: {md.text(note)}" for note in notes if note]
    lines += [""] if lines[-1] else []
    findings = for_each_cause(ranked(report.findings))
    shown = findings[: options.top] if options.top else findings
    if shown:
        lines += md.table(("place", "rule", "what", "help", "seen"), map(_row, shown))
    if left := len(findings) - len(shown):
        lines += ["", f"and {count(left, 'more finding')}"]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(finding: Finding) -> tuple[str, ...]:
    words = only_when(finding)
    seen = "" if finding.evidence == "predicted" else finding.evidence
    times = count(finding.count, "time") if finding.count else ""
    return (
        md.code(f"{finding.path}:{finding.line}"),
        md.text(finding.code),
        md.text(", ".join(filter(None, (finding.message, words, places(finding))))),
        md.text(finding.help),
        md.text(", ".join(filter(None, (seen, times)))),
    )
