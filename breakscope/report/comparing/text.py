"""A difference on a terminal: one line for each finding that went, came or moved, then the numbers,
and last what it comes to."""

from __future__ import annotations

from breakscope.report.comparing.difference import Difference, Figure
from breakscope.report.comparing.words import change, costs, headline, number, was
from breakscope.report.escaping import in_one_line
from breakscope.report.formats._blocks import budget_lines
from breakscope.report.formats._layout import EMPTY, Line, hanging, paint
from breakscope.report.model import Finding

STYLES = {"new": "bold red", "gone": "bold green", "moved": "bold cyan"}


def render(found: Difference, width: int | None, color: bool) -> str:
    lines: list[Line] = []
    for note in found.notes:
        lines += hanging([("note:", "bold yellow")], note, width)
    for finding in found.new:
        lines += _finding("new", finding, costs(finding), width)
    for finding in found.gone:
        lines += _finding("gone", finding, costs(finding), width)
    for moved in found.moved:
        lines += _finding("moved", moved.finding, f"was at {was(moved)}", width)
    lines += [EMPTY] if lines else []
    if found.figures:
        lines += [*_table(found.figures), EMPTY]
    for error in found.errors:
        lines += hanging([("error:", "bold red")], error.message, width)
    lines += budget_lines(found.budgets, width)
    lines.append([(f"{headline(found)}.", "bold")])
    return paint(lines, color)


def _finding(what: str, finding: Finding, more: str, width: int | None) -> list[Line]:
    place = f"{finding.path}:{finding.line}:{finding.column}:"
    text = in_one_line(finding.message) + (f" ({in_one_line(more)})" if more else "")
    return hanging(
        [(f"{what}:", STYLES[what]), (place, "bold"), (finding.code, "bold")], text, width
    )


def _table(figures: tuple[Figure, ...]) -> list[Line]:
    rows = [("", "before", "after", "")]
    rows += [(f.name, number(f.before, f), number(f.after, f), change(f)) for f in figures]
    wide = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        [
            (f"{row[0]:<{wide[0]}}", ""),
            (
                f"  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}  {row[3]:>{wide[3]}}",
                "dim" if not n else "",
            ),
        ]
        for n, row in enumerate(rows)
    ]
