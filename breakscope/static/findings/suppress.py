"""Comments that silence findings: `# breakscope: ignore[BRK101] reason`, `# noqa: BRK101`, and for
the whole file `# breakscope: ignore-file` or `# breakscope: ignore-file[BRK101]`."""

from __future__ import annotations

import re
from bisect import bisect_left

from msgspec import Struct

from breakscope import limits

# Compiled where they are used: few files have a comment that silences something.
# What decides where a comment begins: an escape, a quote, a hash.
SIGN = r"""\\.|["'#]"""
WORDS = r"#\s*(?:breakscope:\s*ignore(?P<file>-file)?(?:\[(?P<codes>[^\]]*)\])?|noqa(?::\s*(?P<noqa>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?)"
CODE = r"[^,\s]+"
SUSPECT = re.compile("breakscope|[Nn][Oo][Qq][Aa]")


class Mark(Struct, frozen=True):
    """One code of a comment that silences findings, or a comment that names none."""

    line: int
    column: int  # of the code, or of the comment; characters from 0
    end_column: int
    code: str  # a code or prefix, "" for all
    whole_file: bool = False
    is_noqa: bool = False  # in the words of all linters


class Suppressions:
    """The suppressions of one file."""

    def __init__(self, lines: list[str]) -> None:
        self._texts = lines
        self.marks: list[Mark] = []
        suspects = [n for n, line in enumerate(lines, 1) if "#" in line and SUSPECT.search(line)]
        for number in suspects:
            line = lines[number - 1]
            length = len(comment_of(line))
            if length:
                start = len(line) - length
                self.marks += marks_in(line, number, start, start + limits.LONGEST_COMMENT)
        self._whole_file = [mark for mark in self.marks if mark.whole_file]
        self._by_line: dict[int, list[Mark]] = {}
        for mark in self.marks:
            if not mark.whole_file:
                self._by_line.setdefault(mark.line, []).append(mark)
        self._lines = sorted(self._by_line)

    def silencers(self, code: str, first: int, last: int) -> list[Mark]:
        """What silences the code for the file or on one of the lines of its statement."""
        at, end = bisect_left(self._lines, first), bisect_left(self._lines, last + 1)
        near = (mark for line in self._lines[at:end] for mark in self._by_line[line])
        return [mark for mark in (*self._whole_file, *near) if code.startswith(mark.code)]

    def comment_around(self, mark: Mark) -> str:
        """The words of the mark's comment, up to the next comment behind it."""
        start, end = span_of(self._texts[mark.line - 1], mark)
        return self._texts[mark.line - 1][start:end].rstrip()

    def line_without(self, mark: Mark) -> str:
        """The mark's line as it is without it; "" where nothing is left."""
        line = self._texts[mark.line - 1]
        bare = line.rstrip("\r\n")
        start, end = span_of(line, mark)
        codes = _codes(line, re.compile(WORDS, re.IGNORECASE).match(line, start))
        at = [code.start() for code in codes].index(mark.column) if codes else 0
        if at + 1 < len(codes):
            return bare[: mark.column] + bare[codes[at + 1].start() :]
        if at:
            return bare[: codes[at - 1].end()] + bare[mark.end_column :]
        text = f"{bare[:start].rstrip()}  {bare[end:]}" if bare[end:] else bare[:start]
        return text.rstrip() if text.strip() else ""


def marks_in(line: str, number: int, start: int, end: int) -> list[Mark]:
    """The marks in a part of a line."""
    found: list[Mark] = []
    for match in re.compile(WORDS, re.IGNORECASE).finditer(line, start, end):
        whole_file, is_noqa = bool(match["file"]), match["noqa"] is not None
        codes = _codes(line, match)
        for code in codes:
            text = code[0].upper()
            found.append(Mark(number, code.start(), code.end(), text, whole_file, is_noqa))
        if not codes:
            is_noqa = "breakscope" not in match[0].lower()
            found.append(Mark(number, match.start(), match.end(), "", whole_file, is_noqa))
    return found


def _codes(line: str, match: re.Match) -> list[re.Match]:
    group = "codes" if match["codes"] is not None else "noqa"
    return [*re.compile(CODE).finditer(line, *match.span(group))] if match[group] else []


def span_of(line: str, mark: Mark) -> tuple[int, int]:
    """Where the mark's comment begins and ends; another comment may stand behind it."""
    bare = line.rstrip("\r\n")
    start = bare.rfind("#", 0, mark.column + 1)
    end = bare.find("#", max(start + 1, mark.end_column))
    return start, end if end >= 0 else len(bare)


def comment_of(line: str) -> str:
    """The comment at a line's end; "" for none. A `#` inside a string is no comment, and a quote
    that is not closed on the line opens none: it may be a text's that began above."""
    signs = [(sign[0], sign.start()) for sign in re.finditer(SIGN, line)]
    closing: dict[str, int] = {}
    after = [0] * len(signs)  # the next quote of the same kind
    for at in range(len(signs) - 1, -1, -1):
        after[at] = closing.get(signs[at][0], -1)
        closing[signs[at][0]] = at
    at = 0
    while at < len(signs):
        sign, place = signs[at]
        if sign == "#":
            return line[place:]
        at = after[at] + 1 if sign in ("'", '"') and after[at] > 0 else at + 1
    return ""
