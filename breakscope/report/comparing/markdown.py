"""A difference as a comment on a pull request: what it comes to first, then the numbers, then each
finding."""

from __future__ import annotations

from breakscope.report.comparing.difference import Difference
from breakscope.report.comparing.words import change, costs, headline, number, was
from breakscope.report.formats import _markdown as md
from breakscope.report.model import Finding

# by which a later run finds its own comment, to write it anew
MARK = "<!-- breakscope diff -->"


def render(found: Difference) -> str:
    lines = [MARK, f"**breakscope: {headline(found)}**", ""]
    for budget in found.budgets:
        lines.append(f"- **{budget.label}**: {md.text(budget.what)}")
    lines += [f"- **error**: {md.text(error.message)}" for error in found.errors]
    lines += [f"- note: {md.text(note)}" for note in found.notes]
    lines += [""] if lines[-1] else []
    if found.figures:
        rows = [(f.name, number(f.before, f), number(f.after, f), change(f)) for f in found.figures]
        lines += [*md.table(("what", "before", "after", "change"), rows), ""]
    rows = [
        *(_row("new", finding, md.text(costs(finding))) for finding in found.new),
        *(_row("gone", finding, md.text(costs(finding))) for finding in found.gone),
        *(_row("moved", m.finding, md.text(f"was at {was(m)}")) for m in found.moved),
    ]
    if rows:
        lines += [*md.table(("", "place", "rule", "what", "help", ""), rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(what: str, finding: Finding, more: str) -> tuple[str, ...]:
    place = md.code(f"{finding.path}:{finding.line}")
    help = md.text(finding.help) if what == "new" else ""
    return what, place, md.text(finding.code), md.text(finding.message), help, more
