"""Text in Markdown, as GitHub and GitLab show it: what is between backticks stays code, and nothing
else of it is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from breakscope.report.escaping import in_one_line, visible_line

CODE = re.compile(r"`([^`]+)`")
# what begins markup or an HTML tag in the middle of a line
MARKUP = re.compile(r"([\\`*_{}\[\]<>|~#&])")


def text(words: str) -> str:
    """A sentence: its code as code, and all else as it reads."""
    words, parts, end = in_one_line(words), [], 0
    for found in CODE.finditer(words):
        parts += [_plain(words[end : found.start()]), code(found[1])]
        end = found.end()
    return visible_line("".join([*parts, _plain(words[end:])]))


def code(words: str) -> str:
    """As code, in a table too: a bar would end the cell, and does so in code as well."""
    words = in_one_line(words).replace("|", "\\|")
    ticks = "``" if "`" in words else "`"
    space = " " if "`" in words else ""
    return f"{ticks}{space}{words}{space}{ticks}" if words else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table whose cells are Markdown; columns of which no row says anything are left
    out."""
    rows = list(rows)
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    cells = [[row[i] for i in used] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{'---|' * len(used)}", *lines[1:]]


def _plain(words: str) -> str:
    # outside of code GitHub would tell the person of that name
    return MARKUP.sub(r"\\\1", words).replace("@", "`@`")
