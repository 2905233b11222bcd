"""Comments that silence findings: `# breakscope: ignore[BRK101] reason`, `# noqa: BRK101`, and for
the whole file `# breakscope: ignore-file` or `# breakscope: ignore-file[BRK101]`."""

from __future__ import annotations

import re

STRINGS = re.compile(r"""\"(?:[^"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'""")
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
            bare = STRINGS.sub("", lines[number - 1])  # a `#` inside a string is no comment
            if "#" in bare:
                self._read(number, bare[bare.index("#") :])

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
        return any(
            code.startswith(c) for n in range(first, last + 1) for c in self.by_line.get(n, ())
        )
