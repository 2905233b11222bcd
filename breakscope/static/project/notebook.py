"""A Jupyter notebook as one program: its code cells in order, without what only IPython understands.

A line of a magic or of a shell command becomes one that does nothing, so that all lines stay where
they are. Where each line of the program stands in the file is known to the character, and a changed
cell is written back with every other byte as it was.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from json.decoder import scanstring

from msgspec import Struct

from breakscope.static.project.files import is_notebook
from breakscope.static.project.source import SourceError, decode, split_lines

SPACE = re.compile(r"[ \t\r\n]*")
# what decides whether a line begins a statement
SIGN = re.compile(
    r"""(?P<long>'{3}|"{3})|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|#.*|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<goes_on>\\\r?\n)"""
)
CELL_MAGIC = re.compile(r"\s*%%(\w*)")
LINE_MAGIC = re.compile(r"[ \t]*(?:[%!?,;/](?!\s*$)|[^=#\n'\"(]*[^=!<>\s][ \t]*=[ \t]*[%!])")
ASSIGNED = re.compile(r"([^=#\n]*[^=!<>\s][ \t]*=[ \t]*)[%!]")
HELP = re.compile(r"[ \t]*[\w.*]+\?{1,2}[ \t]*\r?\n?$")
# magics that run the rest of their cell as Python in this process
OF_PYTHON = frozenset({"time", "timeit", "capture", "prun", "debug"})
ESCAPE = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u\w{4}|\\.|[^\\]", re.DOTALL)


class Cell(Struct, frozen=True):
    """A code cell: its `number` among all cells, from 1; its `lines` as they are, with their ends;
    those with the indices in `masked` are no Python. In the program it begins at line `first`; in
    the file's text its source is the JSON value from `start` to `end`."""

    number: int
    first: int
    lines: tuple[str, ...]
    masked: frozenset[int]
    start: int
    end: int

    @property
    def source(self) -> str:
        return "".join(self.lines)


class Notebook(Struct, frozen=True):
    """A notebook's text, its code cells, and the program that they are."""

    text: str
    cells: tuple[Cell, ...]
    program: str

    @classmethod
    def of(cls, data: bytes) -> Notebook:
        """Raises SourceError for what is no notebook."""
        text = decode(data)
        cells: list[Cell] = []
        program: list[str] = []
        for number, start, end in _code_cells(text):
            source, _ = _strings(text, start)
            lines = tuple(split_lines("".join(source)))
            shown = masked_lines(lines)
            masked = frozenset(i for i, line in enumerate(lines) if line != shown[i])
            cells.append(Cell(number, len(program) + 1, lines, masked, start, end))
            program += shown
            if program and not program[-1].endswith(("\n", "\r")):
                program[-1] += "\n"
        return cls(text, tuple(cells), "".join(program))

    def cell_at(self, line: int) -> Cell | None:
        """The cell that holds a line of the program."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.first) - 1
        return self.cells[at] if at >= 0 else None

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the file of a line and column of the program, all from 1."""
        cell = self.cell_at(line)
        if cell is None:
            return 1, 1
        before = sum(map(len, cell.lines[: line - cell.first]))
        _, offsets = _strings(self.text, cell.start)
        offset = offsets[min(before + max(column, 1) - 1, len(offsets) - 1)]
        start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, offset) + 1, offset - start + 1

    def with_cells(self, new: dict[int, list[str]]) -> str:
        """The file's text with these lines in the cells of these numbers."""
        parts, last = [], 0
        for cell in self.cells:
            if cell.number in new:
                parts += [self.text[last : cell.start], self._written(cell, new[cell.number])]
                last = cell.end
        return "".join([*parts, self.text[last:]])

    def _written(self, cell: Cell, lines: list[str]) -> str:
        """A cell's source as JSON in the layout that it has."""
        old, is_ascii = self.text[cell.start : cell.end], self.text.isascii()
        lines = [line if _end_of(line) else f"{line}\n" for line in lines]
        if cell.lines and lines and not _end_of(cell.lines[-1]):
            lines[-1] = lines[-1].rstrip("\r\n")
        if old.startswith('"'):
            return json.dumps("".join(lines), ensure_ascii=is_ascii)
        spans = list(_items(self.text, cell.start))
        raw = {json.loads(self.text[a:b]): self.text[a:b] for a, b in spans}
        first, final = spans[0][0], spans[-1][1]
        opening, closing = self.text[cell.start : first], self.text[final : cell.end]
        between = self.text[spans[0][1] : spans[1][0]] if len(spans) > 1 else f",{opening[1:]}"
        written = [raw.get(line) or json.dumps(line, ensure_ascii=is_ascii) for line in lines]
        return f"{opening}{between.join(written)}{closing}"


def program_text(path: str, data: bytes) -> str:
    """The Python source of a file's bytes, of a notebook that of its code cells; raises
    SourceError."""
    return Notebook.of(data).program if is_notebook(path) else decode(data)


def masked_lines(lines: Iterable[str]) -> list[str]:
    """A cell's lines with what only IPython understands made into nothing."""
    lines = list(lines)
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    magic = CELL_MAGIC.match(lines[first]) if lines else None
    if magic and magic[1] not in OF_PYTHON:
        return [_end_of(line) for line in lines]
    shown: list[str] = []
    inside, depth, goes_on, is_magic = "", 0, False, False
    for index, line in enumerate(lines):
        if is_magic:  # a magic that goes on behind a backslash
            shown.append(_end_of(line))
            is_magic = line.rstrip("\r\n").endswith("\\")
            continue
        begins = not (inside or depth or goes_on)
        if begins and ((magic and index == first) or _is_magic(line)):
            shown.append(_nothing(line))
            is_magic = line.rstrip("\r\n").endswith("\\")
            continue
        shown.append(line)
        inside, depth, goes_on = _state_behind(line, inside, depth)
    return shown


def _is_magic(line: str) -> bool:
    return bool(LINE_MAGIC.match(line) or HELP.match(line))


def _nothing(line: str) -> str:
    """A statement that takes the place of a magic; what is assigned is of no known kind."""
    assigned = ASSIGNED.match(line)
    if assigned:
        return f"{assigned[1]}get_ipython(){_end_of(line)}"
    return f"{line[: len(line) - len(line.lstrip())]}pass{_end_of(line)}"


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _state_behind(line: str, inside: str, depth: int) -> tuple[str, int, bool]:
    """In which long string and how many brackets a line ends, and whether its statement goes on
    behind a backslash."""
    at = 0
    while at < len(line):
        if inside:
            end = _closing(line, inside, at)
            if end < 0:
                return inside, depth, False
            inside, at = "", end
            continue
        sign = SIGN.search(line, at)
        if sign is None:
            break
        at = sign.end()
        inside = sign["long"] or ""
        depth = max(0, depth + bool(sign["open"]) - bool(sign["close"]))
        if sign["goes_on"]:
            return inside, depth, True
    return inside, depth, False


def _closing(line: str, quotes: str, at: int) -> int:
    """Behind the quotes that close a long string; -1 where it goes on."""
    while at < len(line):
        if line[at] == "\\":
            at += 2
        elif line.startswith(quotes, at):
            return at + len(quotes)
        else:
            at += 1
    return -1


# -- where values stand in JSON


def _code_cells(text: str) -> Iterator[tuple[int, int, int]]:
    """Number, and start and end of the source, of each code cell of a notebook in Python."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise SourceError(
            f"is no notebook: line {problem.lineno} is no JSON ({problem.msg})"
        ) from None
    except RecursionError:
        raise SourceError("is no notebook: it is nested too deeply") from None
    if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
        old = isinstance(document, dict) and "worksheets" in document
        hint = "; `jupyter nbconvert --to notebook` makes format 4 of it" if old else ""
        raise SourceError(f"is no notebook with a list of cells{hint}")
    if _language(document) not in ("", "python"):
        return
    cells = _members(text, SPACE.match(text).end())["cells"]
    for number, (start, _) in enumerate(_items(text, cells[0]), 1):
        cell = document["cells"][number - 1]
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and _is_text(cell):
            yield number, *_members(text, start)["source"]


def _language(document: dict) -> str:
    """The language of a notebook; "" where it names none."""
    metadata = document.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        named = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(named, dict) and isinstance(named.get(key), str):
            return named[key].lower()
    return ""


def _is_text(cell: dict) -> bool:
    source = cell.get("source")
    if isinstance(source, list):
        return bool(source) and all(isinstance(line, str) for line in source)
    return isinstance(source, str)


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """The keys of the JSON object that begins at an offset, with start and end of their values."""
    found: dict[str, tuple[int, int]] = {}
    at = _behind_space(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        start = _behind_space(text, _behind_space(text, at) + 1)
        end = _value_end(text, start)
        found[key] = (start, end)
        at = _behind_space(text, end)
        at = _behind_space(text, at + 1) if text[at] == "," else at
    return found


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Start and end of each item of the JSON list that begins at an offset."""
    at = _behind_space(text, at + 1)
    while text[at] != "]":
        end = _value_end(text, at)
        yield at, end
        at = _behind_space(text, end)
        at = _behind_space(text, at + 1) if text[at] == "," else at


def _value_end(text: str, at: int) -> int:
    return json.JSONDecoder().raw_decode(text, at)[1]


def _behind_space(text: str, at: int) -> int:
    return SPACE.match(text, at).end()


def _strings(text: str, start: int) -> tuple[list[str], list[int]]:
    """The strings of a JSON string or list of strings, and the offset of each of their characters,
    with the end of the last."""
    spans = [(start, _value_end(text, start))] if text[start] == '"' else list(_items(text, start))
    offsets: list[int] = []
    for first, end in spans:
        offsets += [sign.start() for sign in ESCAPE.finditer(text, first + 1, end - 1)]
    offsets.append(spans[-1][1] - 1 if spans else start)
    return [json.loads(text[first:end]) for first, end in spans], offsets
