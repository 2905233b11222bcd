"""A file's text as it is edited: its lines, and how text becomes bytes again."""

from __future__ import annotations

import ast
import io
import tokenize
from codecs import BOM_UTF8
from collections import Counter

from msgspec import Struct

from breakscope.static.project.files import is_notebook
from breakscope.static.project.notebook import Notebook
from breakscope.static.project.source import SourceError, decode, parse, split_lines


class NotEncodable(Exception):
    """The file's encoding has no bytes for a text."""


class Piece(Struct, frozen=True):
    """A line of a rewritten file. `beside` is the line of the file that it is, where it is `kept`,
    or whose place it takes."""

    text: str
    beside: int
    kept: bool = False


class SourceFile(Struct, frozen=True):
    """`lines` have their ends, `encoding` is Python's name for what the file is written in. Of a
    notebook they are the lines of its program."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module
    encoding: str
    bom: bool
    notebook: Notebook | None = None

    @classmethod
    def of(cls, path: str, data: bytes) -> SourceFile:
        """Raises SourceError for what is no Python source."""
        if is_notebook(path):
            notebook = Notebook.of(data)
            lines, tree = split_lines(notebook.program), parse(notebook.program, path)
            return cls(path, tuple(lines), tree, "utf-8", data.startswith(BOM_UTF8), notebook)
        text = decode(data)
        bom = data.startswith(BOM_UTF8)
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return cls(path, tuple(split_lines(text)), parse(text, path), encoding, bom)

    def piece(self, line: int) -> Piece:
        """A line as it is."""
        return Piece(self.lines[line - 1], line, kept=True)

    def is_masked(self, first: int, last: int) -> bool:
        """True when one of the lines is no Python, but a notebook's magic."""
        cell = self.notebook.cell_at(first) if self.notebook else None
        return cell is not None and any(first <= cell.first + i <= last for i in cell.masked)

    def with_pieces(self, pieces: list[Piece]) -> bytes:
        """The file's bytes with these lines; raises NotEncodable."""
        if self.notebook is not None:
            text = self._cells_with(pieces)
        else:
            text = "".join(piece.text for piece in pieces)
        try:
            data = text.encode(self.encoding.removesuffix("-sig"))
        except UnicodeEncodeError:
            raise NotEncodable from None
        return BOM_UTF8 + data if self.bom else data

    def _cells_with(self, pieces: list[Piece]) -> str:
        new: dict[int, list[str]] = {}
        for piece in pieces:
            cell = self.notebook.cell_at(piece.beside)
            text = cell.lines[piece.beside - cell.first] if piece.kept else piece.text
            new.setdefault(cell.number, []).append(text)
        changed = {
            cell.number: new.get(cell.number, [])
            for cell in self.notebook.cells
            if tuple(new.get(cell.number, ())) != cell.lines
        }
        return self.notebook.with_cells(changed)

    @property
    def newline(self) -> str:
        """The end of most of its lines."""
        ends = Counter(end_of(line) for line in self.lines)
        return max(("\n", "\r\n", "\r"), key=lambda end: ends[end])


def end_of(line: str) -> str:
    """A line's end: \\n, \\r\\n, \\r, or "" at the end of a file."""
    return line[len(line.rstrip("\r\n")) :]


def comments_in(text: str) -> Counter[str]:
    """The comments of a statement's text; raises SourceError where it cannot be read."""
    lines = split_lines(text)
    indented = bool(lines) and lines[0][:1] in (" ", "\t")
    text = f"if 1:\n{text}" if indented else text
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError) as problem:
        raise SourceError(f"cannot be read: {problem}") from None
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def statements_of(text: str) -> list[ast.stmt]:
    """The statements of whole lines, at whatever indentation; raises SourceError."""
    if text.lstrip("\r\n")[:1] in (" ", "\t"):
        return parse(f"if 1:\n{text}", "").body[0].body
    return parse(text, "").body
