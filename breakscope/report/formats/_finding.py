"""A finding as at most six lines: where and what, the source frame, what to write instead, how the
place is reached."""

from __future__ import annotations

import re
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
    equal_lines,
    expand,
    hanging,
    with_dots,
)
from breakscope.report.formats._words import join
from breakscope.report.model import Finding
from breakscope.report.summary import count

CODE_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
CARET_STYLES = {"error": "red", "warning": "yellow", "info": "cyan"}
QUOTED = re.compile(r"`([^`]+)`")


class Fit(Struct, frozen=True):
    """What of a finding is shown."""

    before: bool = False  # the line before the site
    alone: bool = False  # the advice has a paragraph of its own
    guard: bool = False
    chain: str = "none"  # how the place is reached: "whole", "ends", "none"
    # that a frame is skipped stands beside the carets, where there is room
    skipped_above: bool = True
    # the most columns of code that the message, or the advice, repeats from the frame
    quote: int | None = None
    terse: bool = False  # of evidence and cost only the words that matter most
    brief: bool = False  # the message in fewer words


# what is left out of the first stands elsewhere in the block, or at least in the JSON report
FITS = (
    Fit(before=True, alone=True, guard=True, chain="whole", skipped_above=False),
    Fit(alone=True, guard=True, chain="whole", skipped_above=False),
    Fit(alone=True, guard=True, chain="whole"),
    Fit(alone=True, guard=True, chain="whole", quote=40),
    Fit(alone=True, guard=True, chain="ends", quote=40),
    Fit(chain="whole", quote=40),
    Fit(chain="ends", quote=40),
    Fit(chain="ends", quote=28),
    Fit(chain="ends", quote=28, brief=True),
    Fit(quote=40),
    Fit(quote=28, brief=True),
    Fit(quote=28, brief=True, terse=True),
    Fit(quote=20, brief=True, terse=True),
)
NARROW_FITS = (*FITS[:3], Fit(chain="ends"), Fit())  # nothing of message and advice is left out


def finding_lines(finding: Finding, width: int | None) -> list[Line]:
    """The finding in few lines (limits.LONGEST_FINDING); in more only where the terminal is
    narrow (limits.USUAL_WIDTH)."""
    usual = width is None or width >= limits.USUAL_WIDTH
    for fit in FITS if usual else NARROW_FITS:
        head, frame, below = _parts(finding, width, fit)
        if len(head) + len(frame) + len(below) <= limits.LONGEST_FINDING:
            return [*head, *frame, *below]
    if width is not None and usual:
        room = limits.LONGEST_FINDING - len(frame)
        below = with_dots(
            below, max(room - len(head), min(len(below), limits.FEWEST_ADVICE_LINES)), width
        )
        head = with_dots(head, room - len(below), width)
    return [*head, *frame, *below]


def _parts(
    finding: Finding, width: int | None, fit: Fit
) -> tuple[list[Line], list[Line], list[Line]]:
    """The head, the source frame, and what stands below it."""
    skipped = _words.skipped(finding)
    choices = _choices(finding, skipped if fit.skipped_above else (), fit.terse)
    frame, leftover = _frame(finding, width, choices)
    if not fit.before and len(frame) == 3:
        frame = frame[1:]
    chain = {"whole": _words.chain, "ends": _words.short_chain, "none": lambda _: ""}[fit.chain](
        finding
    )
    more = join(
        _words.behind(finding),
        leftover,
        *(() if fit.skipped_above else skipped[:1]),
        _words.guard(finding) if fit.guard else "",
        chain,
    )
    advice = _shorter(_words.advice(finding), fit.quote, finding)
    below = (
        [*equal_lines(advice, width), *equal_lines(more, width)]
        if fit.alone
        else equal_lines(join(advice, more), width)
    )
    return _head(finding, width, fit), frame, below


def _head(finding: Finding, width: int | None, fit: Fit) -> list[Line]:
    place = f"{finding.path}:{finding.line}:{finding.column}:"
    labels = [(place, "bold"), (finding.code, CODE_STYLES[finding.severity])]
    message = finding.brief if fit.brief and finding.brief else finding.message
    return hanging(labels, _shorter(message, fit.quote, finding), width)


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
    if width <= most or code.removesuffix(DOTS) not in source:
        return quoted[0]
    head = (most - len(DOTS)) * 2 // 3
    return f"`{cut(code, 0, head)}{DOTS}{cut(code, width - (most - len(DOTS) - head), width)}`"


def _frame(
    finding: Finding, width: int | None, choices: list[tuple[str, str]]
) -> tuple[list[Line], str]:
    """The source frame: the line before, the line itself, carets with the first of the choices that
    has room there; and what then has to stand elsewhere."""
    index = finding.line - finding.first_source_line
    if not 0 <= index < len(finding.source):
        return [], join(*choices[0])
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
    if before:
        lines.append(
            [
                (f"{finding.line - 1:>{gutter}} | ", "dim"),
                (crop_around(before, 0, 1, room)[0], "dim"),
            ]
        )
    lines.append([(f"{finding.line:>{gutter}} | ", "dim"), (shown, "")])
    blank, carets = (
        (" " * gutter + " | ", "dim"),
        ("^" * (end - start), CARET_STYLES[finding.severity]),
    )
    for notes, leftover in choices:
        if not notes:
            return [*lines, [blank, (" " * start, ""), carets]], leftover
        if room is None or end + 3 + len(notes) <= room:
            return [*lines, [blank, (" " * start, ""), carets, ("   " + notes, "dim")]], leftover
        if len(notes) + 3 <= start:  # no room behind the carets, but in front of them
            return [*lines, [blank, (notes.rjust(start - 3) + "   ", "dim"), carets]], leftover
    return [*lines, [blank, (" " * start, ""), carets]], join(*reversed(choices[-1]))


def _choices(finding: Finding, skipped: tuple[str, ...], terse: bool) -> list[tuple[str, str]]:
    """What may stand beside the carets, the best first, and what then has to stand elsewhere."""
    condition = _words.condition(finding)
    full, bare = _words.notes(finding, ids=True), _words.notes(finding)
    if terse:
        full = bare = _words.terse_notes(finding)
        skipped = skipped[-1:]
    whole = skipped[0] if skipped else ""
    most = (_also(full, condition), _also(bare, condition))
    choices = [*((notes, whole) for notes in most), (bare, join(whole, condition))]
    if not skipped:
        return choices
    return [
        (join(most[0], whole), ""),
        *(
            (join(notes, words), left)
            for notes, left in ((most[1], ""), (bare, condition), ("", most[1]))
            for words in skipped[1:] or skipped
        ),
        *choices,
    ]


def _also(notes: str, condition: str) -> str:
    return ", ".join(part for part in (notes, condition) if part)


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
