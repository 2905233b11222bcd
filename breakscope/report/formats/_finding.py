"""A finding in a few lines: where and what, the source frame, then one fact a line, each with its
label: `help`, `seen`, `note`, `from`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from msgspec import Struct

from breakscope import limits
from breakscope.report.formats import _words
from breakscope.report.formats._layout import (
    DOTS,
    Line,
    cell_len,
    columns_before,
    crop_around,
    cut,
    expand,
    fact_lines,
    hanging,
    with_dots,
)
from breakscope.report.model import Finding
from breakscope.report.summary import count

CODE_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
CARET_STYLES = {"error": "red", "warning": "yellow", "info": "cyan"}
QUOTED = re.compile(r"`([^`]+)`")


class Fit(Struct, frozen=True):
    """What of a finding is shown."""

    before: bool = False  # the line before the site
    # the chain with its first and last step only, and of a skipped frame not why
    short: bool = True
    # the most columns of code that advice repeats from the frame
    quote: int | None = None
    is_brief: bool = False  # of what was seen one id and one cost
    facts: int = 9  # how many, the most important first


# what is left out of the first stands elsewhere in the block, or at least in the JSON report
FITS = (
    Fit(before=True, short=False),
    Fit(short=False),
    Fit(),
    Fit(quote=40),
    Fit(quote=28),
    *(Fit(quote=28, is_brief=True, facts=facts) for facts in (9, 6, 5, 4, 3, 2)),
)
# the columns of code that a message keeps of what the frame shows, and whether it is the brief one;
# on a line with its place, and on one below it
SHORTER = ((None, False), (None, True), (40, True), (28, True))
SHORTEST = (*SHORTER, (20, True))


def finding_lines(finding: Finding, width: int | None) -> list[Line]:
    """The finding in few lines (limits.LONGEST_FINDING); in more only where the terminal is
    narrow (limits.USUAL_WIDTH)."""
    head = _head(finding, width)
    for fit in FITS:
        lines = [*_frame(finding, width, fit.before), *_facts(finding, width, fit)]
        if len(head) + len(lines) <= limits.LONGEST_FINDING:
            return [*head, *lines]
    if _is_narrow(width):
        return [*head, *_frame(finding, width, False), *_facts(finding, width, FITS[1])]
    return [*head, *with_dots(lines, limits.LONGEST_FINDING - len(head), width)]


def _is_narrow(width: int | None) -> bool:
    return width is not None and width < limits.USUAL_WIDTH


def _head(finding: Finding, width: int | None) -> list[Line]:
    """Place, code and message in one line; the place above the rest where one has no room."""
    place = (f"{finding.path}:{finding.line}:{finding.column}:", "bold")
    code = (finding.code, CODE_STYLES[finding.severity])
    sure = _words.how_sure(finding)
    if width is None:
        return hanging([place, code], f"{finding.message}{sure}", None)
    for labels, above, ways in (([place, code], [], SHORTER), ([code], [[place]], SHORTEST)):
        for most, is_brief in ways:
            message = finding.brief if is_brief and finding.brief else finding.message
            lines = hanging(labels, f"{_shorter(message, most, finding)}{sure}", width)
            if len(lines) == 1:
                return [*above, *lines]
    if _is_narrow(width):  # nothing of it is left out
        return [*above, *hanging([code], f"{finding.message}{sure}", width)]
    return [*above, *with_dots(lines, 1, width)]


def _facts(finding: Finding, width: int | None, fit: Fit) -> list[Line]:
    facts = [
        (label, _shorter(text, fit.quote, finding) if label == "help" else text)
        for label, text in _said(finding, fit)
        if text
    ]
    kept = facts[: fit.facts]
    return [line for label, text in kept for line in fact_lines(label, text, width)]


def _said(finding: Finding, fit: Fit) -> Iterator[tuple[str, str]]:
    """The facts with their labels, the most important first; "" for what does not hold."""
    yield "help", _words.advice(finding)
    yield "seen", _words.seen(finding, fit.is_brief)
    yield "note", _words.skipped(finding, fit.short)
    yield "from", _words.chain(finding, fit.short)
    for text in _words.notes(finding):
        yield "note", text


def _shorter(text: str, most: int | None, finding: Finding) -> str:
    """The text with the middle left out of long code in it, where that code stands in the source
    frame."""
    return (
        text
        if most is None
        else QUOTED.sub(partial(_middle_out, most, " ".join(finding.source)), text)
    )


def _middle_out(most: int, source: str, quoted: re.Match) -> str:
    code = quoted[1]
    width = cell_len(code)
    if width <= most or code not in source:  # what was cut already is not cut again
        return quoted[0]
    head = (most - len(DOTS)) * 2 // 3
    return f"`{cut(code, 0, head)}{DOTS}{cut(code, width - (most - len(DOTS) - head), width)}`"


def _frame(finding: Finding, width: int | None, with_line_before: bool) -> list[Line]:
    """The source frame: the line before, the line itself, carets."""
    index = finding.line - finding.first_source_line
    if not 0 <= index < len(finding.source):
        return []
    raw = finding.source[index]
    line = expand(raw).rstrip()
    start = columns_before(raw, finding.column)
    end = (
        columns_before(raw, finding.end_column)
        if finding.end_line == finding.line
        else columns_before(line, len(line) + 1)
    )
    gutter = max(len(str(finding.line)) + 1, 5)
    room = None if width is None else max(width - gutter - 3, 20)
    shown, start, end = crop_around(line, start, max(end, start + 1), room)
    lines: list[Line] = []
    before = expand(finding.source[index - 1]).rstrip() if index > 0 else ""
    if before and with_line_before:
        lines.append(
            [
                (f"{finding.line - 1:>{gutter}} | ", "dim"),
                (crop_around(before, 0, 1, room)[0], "dim"),
            ]
        )
    carets = ("^" * (end - start), CARET_STYLES[finding.severity])
    return [
        *lines,
        [(f"{finding.line:>{gutter}} | ", "dim"), (shown, "")],
        [(" " * gutter + " | ", "dim"), (" " * start, ""), carets],
    ]


def fix_lines(finding: Finding) -> list[Line]:
    """The suggested rewrite as a difference; of the old lines those that the report holds."""
    fix = finding.fix
    if fix is None:
        return []
    first = finding.first_source_line
    old = [
        finding.source[n - first]
        for n in range(fix.line, fix.end_line + 1)
        if 0 <= n - first < len(finding.source)
    ]
    left_out = fix.end_line + 1 - fix.line - len(old)
    lines: list[Line] = [[("    - ", "red"), (expand(line), "red")] for line in old]
    if left_out:
        lines.append([("    - ", "red"), (f"... {count(left_out, 'more line')}", "dim")])
    return [
        *lines,
        *([("    + ", "green"), (expand(line), "green")] for line in fix.replacement.splitlines()),
    ]
