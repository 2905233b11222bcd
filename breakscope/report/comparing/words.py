"""A difference in words: what every format of it says in the same way."""

from __future__ import annotations

from breakscope.report.comparing.difference import Difference, Figure, Moved
from breakscope.report.formats import _words
from breakscope.report.model import Finding
from breakscope.report.summary import count, duration


def headline(found: Difference) -> str:
    """ "1 new, 2 gone, 1 moved, 4 unchanged"."""
    parts = [
        f"{number} {word}"
        for number, word in (
            (len(found.new), "new"),
            (len(found.gone), "gone"),
            (len(found.moved), "moved"),
            (found.unchanged, "unchanged"),
        )
        if number
    ]
    return ", ".join(parts) or "no findings before, none after"


def costs(finding: Finding) -> str:
    """What it cost where it was seen; "" where that is not known."""
    events = [count(finding.count, "event")] if finding.count else []
    return ", ".join([*events, *_words.costs(finding.cost)])


def was(moved: Moved) -> str:
    """Where it stood, in as few words as say it."""
    before, now = moved.before, moved.finding
    if before.path != now.path:
        return f"{before.path}:{before.line}"
    if before.line != now.line:
        return f"line {before.line}"
    return f"`{before.function}`"


def number(value: float | None, figure: Figure) -> str:
    if value is None:
        return "-"
    if figure.unit == "percent":
        return f"{value:.0f}%"
    if figure.unit == "seconds":
        return f"-{duration(-value)}" if value < 0 else duration(value)
    return f"{value:g}"


def change(figure: Figure) -> str:
    """ "+2", "-61%" of seconds, "+12 points" of a percentage; "" where nothing changed or one of the
    two is not known."""
    if figure.before is None or figure.after is None or figure.before == figure.after:
        return ""
    by = figure.after - figure.before
    if figure.unit == "percent":
        return f"{by:+.0f} points"
    if figure.unit == "seconds":
        share = by / figure.before if figure.before > 0 else 0.0
        return f"{share:+.0%}" if share else f"{'+' if by > 0 else '-'}{duration(abs(by))}"
    return f"{by:+g}"
