"""Comments that silence findings: `# breakscope: ignore[BRK101] reason`, `# noqa: BRK101`, and for
the whole file `# breakscope: ignore-file` or `# breakscope: ignore-file[BRK101]`."""

from __future__ import annotations

import re
from bisect import bisect_left

from breakscope import limits

# what decides where a comment begins: an escape, a quote, a hash
SIGN = re.compile(r"""\\.|["'#]""")
MARK = re.compile(
    r"#\s*(?:breakscope:\s*ignore(?P<file>-file)?(?:\[(?P<codes>[^\]]*)\])?|noqa(?::\s*(?P<noqa>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?)",
    re.IGNORECASE,
)
SUSPECT = re.compile("breakscope|[Nn][Oo][Qq][Aa]")


class Suppressions:
    """The suppressions of one file."""

    def __init__(self, lines: list[str]) -> None:
        self.by_line: dict[int, tuple[str, ...]] = {}
        self.whole_file: tuple[str, ...] | None = None
        suspects = [n for n, line in enumerate(lines, 1) if "#" in line and SUSPECT.search(line)]
        for number in suspects:
            comment = comment_of(lines[number - 1])
            if comment:
                self._read(number, comment[: limits.LONGEST_COMMENT])
        self._lines = sorted(self.by_line)

    def _read(self, number: int, comment: str) -> None:
        for match in MARK.finditer(comment):
            codes = tuple(
                c.strip().upper()
                for c in re.split(r"[,\s]+", match["codes"] or match["noqa"] or "")
                if c.strip()
            )
            if match["file"]:
                self.whole_file = (*(self.whole_file or ()), *codes) if codes else ("",)
            else:
                self.by_line[number] = (*self.by_line.get(number, ()), *(codes or ("",)))

    def hide(self, code: str, first: int, last: int) -> bool:
        """True when the code is silenced for the file or on one of the lines of its statement."""
        if self.whole_file is not None and any(code.startswith(c) for c in self.whole_file):
            return True
        at = bisect_left(self._lines, first)
        while at < len(self._lines) and self._lines[at] <= last:
            if any(code.startswith(c) for c in self.by_line[self._lines[at]]):
                return True
            at += 1
        return False


def comment_of(line: str) -> str:
    """The comment at a line's end; "" for none. A `#` inside a string is no comment, and a quote
    that is not closed on the line opens none: it may be a text's that began above."""
    signs = [(sign[0], sign.start()) for sign in SIGN.finditer(line)]
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
