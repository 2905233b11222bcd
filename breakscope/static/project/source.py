"""A source file's text and tree: encodings, line ends, and one clear line for what cannot be read
as Python."""

from __future__ import annotations

import ast
import gc
import io
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from breakscope import limits


def split_lines(source: str) -> list[str]:
    """Lines as Python counts them, with their ends: only \\n, \\r\\n and \\r end one
    (str.splitlines knows more)."""
    return list(io.StringIO(source, newline=""))


@lru_cache(limits.MOST_ENCODED_LINES)
def encoded(line: str) -> bytes:
    """A line in UTF-8, in which `ast` counts columns."""
    return line.encode(errors="surrogatepass")


def shortened(text: str) -> str:
    """A text as a report may hold it: of a long one the beginning."""
    long = len(text) > limits.LONGEST_TEXT
    return text[: limits.LONGEST_TEXT] + "..." if long else text


def text_of(node: ast.AST, lines: list[str]) -> str:
    """A node's source on one line, of a long one the beginning."""
    line = getattr(node, "end_lineno", 0)
    if line and node.lineno == line:
        text = lines[line - 1]
        if text.isascii():
            return shortened(text[node.col_offset : node.end_col_offset])
        part = encoded(text)[node.col_offset : node.end_col_offset]
        return shortened(part.decode(errors="replace"))
    text = getattr(node, "text", None)  # kept: to put several lines on one takes long
    if text is None:
        try:
            text = node.text = shortened(ast.unparse(node))
        except (RecursionError, ValueError):
            text = node.text = ""
    return text


class SourceError(Exception):
    """A file that cannot be read as Python: message and line (0 when it has none)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def decode(data: bytes) -> str:
    """Source text of a file's bytes, by its BOM or coding line; raises SourceError."""
    if b"\0" in data:
        raise SourceError("is no Python source: it contains null bytes")
    # the first is written in Python
    encoding = "utf-8-sig" if data.startswith(BOM_UTF8) else "utf-8"
    head = data[:400]
    if any(b"#" in line and b"coding" in line for line in head.split(b"\n", 2)[:2]):
        import tokenize

        try:
            encoding = tokenize.detect_encoding(io.BytesIO(head).readline)[0]
        except SyntaxError as problem:
            raise SourceError(f"names an unknown source encoding: {problem}") from None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise SourceError(
            f"is not {encoding.removesuffix('-sig')}: byte 0x{data[problem.start]:02x} cannot be decoded; "
            "save it as UTF-8 or add a coding line",
            line,
        ) from None


def parse(source: str, path: str) -> ast.Module:
    """The file's tree; raises SourceError. The collector is off meanwhile: a tree is
    many objects and no garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        with _without_warnings():
            return ast.parse(source, path)
    except SyntaxError as problem:
        raise SourceError(f"syntax error: {problem.msg}", problem.lineno or 0) from None
    except (RecursionError, MemoryError):
        raise SourceError("is nested too deeply to be parsed") from None
    except ValueError as problem:
        raise SourceError(f"cannot be parsed: {problem}") from None
    finally:
        if collecting:
            gc.enable()


def refuse_what_is_no_python(source: str, path: str) -> None:
    """Raise SourceError as `parse` would. A symbol table takes less time, for want of a tree; it
    refuses some programs that `parse` takes, so that `parse` makes the message."""
    import symtable  # only a check of many files comes here

    try:
        with _without_warnings():
            symtable.symtable(source, path, "exec")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        parse(source, path)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep SyntaxWarning and DeprecationWarning of the user's literals quiet."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
