"""Lines of text on a terminal: widths, wrapping, cropping, colour. Widths are terminal columns, not
characters.

rich is imported only for colour and for characters beyond ASCII: its import is expensive.
"""

from __future__ import annotations

import io

from breakscope.report.escaping import in_one_line, visible, visible_line

TAB = 4
DOTS = "..."

Line = list[tuple[str, str]]  # pieces of text, each with a rich style ("" for none)
EMPTY: Line = []


def expand(line: str) -> str:
    """The line without tabs, safe to print."""
    return visible(line.expandtabs(TAB))


def cell_len(text: str) -> int:
    """The columns that a printable text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


def columns_before(line: str, column: int) -> int:
    """Terminal columns in front of the 1-based character `column` of a source line."""
    return cell_len(expand(line[: column - 1]))


def wrap(text: str, first: int | None, rest: int | None) -> list[str]:
    """Word wrap into lines of at most `first` and then `rest` columns; None means that lines may be
    of any length.

    A word that is longer than a line is cut. When `first` has no room for the first word, the first
    line is empty.
    """
    text = in_one_line(text)
    if first is None or rest is None:
        return [text]
    lines, line, room = [], "", first
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= room:
            line = joined
            continue
        if line or not lines:
            lines.append(line)
            room = max(rest, 1)
        while cell_len(word) > room:
            piece = cut(word, 0, room)
            lines.append(piece)
            word = word[len(piece) :]
        line = word
    return [*lines, line]


def cut(text: str, start: int, end: int) -> str:
    """The characters that lie wholly in the columns `start` to `end` (at least one, when there is
    any)."""
    out, column = [], 0
    for character in text:
        width = cell_len(character)
        if column >= start and (column + width <= end or not out):
            out.append(character)
        column += width
        if column >= end:
            break
    return "".join(out)


def crop_around(line: str, start: int, end: int, room: int | None) -> tuple[str, int, int]:
    """A source line cut to `room` columns so that the columns `start` to `end` stay in view, as far
    as they fit.

    Returns the cut line and where `start` and `end` lie in it.
    """
    total = cell_len(line)
    if room is None or total <= room or room < 20:
        return line, start, end
    left = 0
    if end > room - len(DOTS):
        left = min(max(0, start - room // 4), total - room + len(DOTS))
        left = max(left, 0)
    shown = cut(line, left, left + room)
    if left:
        shown = DOTS + cut(shown, len(DOTS), room)
    if left + room < total:
        shown = cut(shown, 0, room - len(DOTS)) + DOTS
    limit = cell_len(shown)
    start = min(max(start - left, 0), limit - 1)
    return shown, start, max(start + 1, min(end - left, limit))


def hanging(labels: Line, message: str, width: int | None, indent: str = "    ") -> list[Line]:
    """Labels, which are never cut, and behind them the message, whose further lines are indented.

    The first label is the place; when not even the labels fit, it has a line of its own.
    """
    before: list[Line] = []
    labels = [(expand(text), style) for text, style in labels]
    prefix: Line = [piece for label in labels for piece in (label, (" ", ""))]
    if width is not None and _width(prefix) > width:
        before, prefix = [labels[:1]], [(indent, ""), *prefix[2:]]
    first = None if width is None else max(width - _width(prefix), 0)
    rest = None if width is None else max(width - len(indent), 20)
    lines = wrap(message, first, rest)
    return [*before, [*prefix, (lines[0], "")], *([(indent + line, "")] for line in lines[1:])]


def fact_lines(label: str, text: str, width: int | None) -> list[Line]:
    """A fact with its label, whose further lines stand below its words."""
    indent = " " * len(f"   = {label}: ")
    room = None if width is None else max(width - len(indent), 20)
    first, *rest = wrap(text, room, room)
    head: Line = [("   = ", "cyan"), (f"{label}:", "bold"), (f" {first}", "")]
    return [head, *([(indent + line, "")] for line in rest)]


def with_dots(lines: list[Line], most: int, width: int | None) -> list[Line]:
    """The first `most` of the lines; where some are left out, the last ends in dots."""
    if len(lines) <= most or width is None:
        return lines
    *before, (text, style) = lines[most - 1]
    room = width - _width(before) - len(DOTS)
    kept = text if cell_len(text) <= room else cut(text, 0, room).rpartition(" ")[0]
    return [*lines[: most - 1], [*before, (kept.rstrip(" ,;:") + DOTS, style)]]


def _width(line: Line) -> int:
    text = "".join(piece for piece, _ in line)
    return columns_before(text, len(text) + 1)


def paint(lines: list[Line], color: bool) -> str:
    """The lines as one string, with ANSI colours when `color`."""
    if color:
        return _painted(lines)
    texts = ("".join(expand(piece) for piece, _ in line) for line in lines)
    return "".join(f"{visible_line(text).rstrip()}\n" for text in texts)


def _painted(lines: list[Line]) -> str:
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(
        file=out, force_terminal=True, color_system="standard", legacy_windows=False, width=10_000
    )
    for line in lines:
        text = Text.assemble(*((expand(piece), style) for piece, style in line))
        if text.plain != visible_line(text.plain):
            text = Text(visible_line(text.plain))
        text.rstrip()
        console.print(text, soft_wrap=True, highlight=False, markup=False)
    return out.getvalue()
