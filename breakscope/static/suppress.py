"""Comments that silence findings: `# breakscope: ignore[BRK101] reason`, `# noqa: BRK101`, and for the whole file
`# breakscope: ignore-file` or `# breakscope: ignore-file[BRK101]`."""

from __future__ import annotations

import io
import re
import tokenize

MARK = re.compile(r"#\s*(?:breakscope:\s*ignore(?P<file>-file)?(?:\[(?P<codes>[^\]]*)\])?|noqa(?::\s*(?P<noqa>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?)",
                  re.IGNORECASE)


class Suppressions:
    """The suppressions of one file."""

    def __init__(self, lines: list[str]) -> None:
        self.by_line: dict[int, tuple[str, ...]] = {}
        self.whole_file: tuple[str, ...] | None = None
        suspects = [n for n, line in enumerate(lines, 1) if "breakscope" in line or "noqa" in line.lower()]
        quoted = any('"' in lines[n - 1].partition("#")[2] or "'" in lines[n - 1].partition("#")[2] for n in suspects)
        if quoted:  # only then can the mark stand inside a string
            for number, comment in _comments("".join(lines)):
                self._read(number, comment)
        else:
            for number in suspects:
                self._read(number, lines[number - 1].partition("#")[1] + lines[number - 1].partition("#")[2])

    def _read(self, number: int, comment: str) -> None:
        for match in MARK.finditer(comment):
            codes = tuple(c.strip().upper() for c in re.split(r"[,\s]+", match["codes"] or match["noqa"] or "") if c.strip())
            if match["file"]:
                self.whole_file = (*(self.whole_file or ()), *codes) if codes else ("",)
            else:
                self.by_line[number] = (*self.by_line.get(number, ()), *(codes or ("",)))

    def hide(self, code: str, first: int, last: int) -> bool:
        """True when the code is silenced for the file or on one of the lines of its statement."""
        if self.whole_file is not None and any(code.startswith(c) for c in self.whole_file):
            return True
        return any(code.startswith(c) for n in range(first, last + 1) for c in self.by_line.get(n, ()))


def _comments(text: str):
    """(line, comment) of the file; a `#` inside a string is no comment."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        return
