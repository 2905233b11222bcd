"""The unified diff of a rewritten file."""

from __future__ import annotations

import difflib

from breakscope.static.project.source import decode, split_lines

NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(path: str, old: bytes, new: bytes) -> str:
    """As `diff -u` and `patch` know it; `path` as it is shown."""
    lines = difflib.unified_diff(
        split_lines(decode(old)), split_lines(decode(new)), path, path, lineterm="\n"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)
