"""What --prove did, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from breakscope import limits
from breakscope.report.fact import Link
from breakscope.report.formats._layout import EMPTY, Line, hanging
from breakscope.report.model import Report
from breakscope.report.run_modes import Proved, Tried
from breakscope.report.summary import count, duration


def proved_lines(report: Report, width: int | None) -> list[Line]:
    """What was tried, and the lines to paste."""
    proved = report.run.proved if report.run else None
    if proved is None:
        return []
    lines = [
        line for text in proved_texts(proved) for line in hanging([("prove:", "bold")], text, width)
    ]
    lines += [[("paste: ", "bold"), (line, "")] for line in proved.lines]
    return [*lines, EMPTY] if lines else []


def proved_texts(proved: Proved) -> list[str]:
    """What each setting did, then the fewest that leave least."""
    if not proved.tried:
        return (
            ["no setting is known that could remove what was found"] if any(proved.before) else []
        )
    texts = [_tried(tried, proved) for tried in proved.tried]
    if not proved.lines:
        return [*texts, "no setting leaves less than there is without one"]
    seconds = (
        f"compiling takes {duration(proved.compile_seconds_after)}, "
        f"before {duration(proved.compile_seconds)}"
    )
    best = f"the fewest settings that leave least ({left(proved.after)}, before {left(proved.before)}; {seconds})"
    return [*texts, best]


def left(amounts: tuple[int, int]) -> str:
    """ "2 breaks and 1 recompile"."""
    breaks, recompiles = amounts
    return f"{count(breaks, 'break')} and {count(recompiles, 'recompile')}"


def _tried(tried: Tried, proved: Proved) -> str:
    setting = f"`{tried.setting}`"
    if tried.problem:
        return f"{setting} fails: {tried.problem}"
    parts = []
    if tried.gone:
        parts.append(f"removes {_places(tried.gone)}")
    if tried.appeared:
        parts.append(f"adds {_places(tried.appeared)}")
    if not parts:
        fewer = sum(tried.left) < sum(proved.before)
        parts.append("leaves fewer" if fewer else "changes nothing")
    return f"{setting} {' and '.join(parts)}; {left(tried.left)} left"


def _places(links: Sequence[Link]) -> str:
    places = list(dict.fromkeys(f"{link.path}:{link.line}" for link in links))
    shown = places[: limits.MOST_PROVED_PLACES]
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
