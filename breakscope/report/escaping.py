"""Text from anywhere, made safe to show: every format passes its text through here.

File names, source, reasons, guards and messages are data. They may hold what a terminal obeys
(control characters), what changes the order in which a line is read (bidirectional marks), what
cannot be seen, what a CI runner takes for a command, and bytes that are no UTF-8. All of that is
shown as Python would write it in a string: `\\x1b`, `\\u202e`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import msgspec

# Default_Ignorable_Code_Point of Unicode, where Python counts them as printable. The variation
# selectors of emoji stay: they change how the sign before them looks, and nothing else.
UNSEEN = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0100-\U000e01ef]"
BEYOND_ASCII = "[^\x00-\x7e]"
SURROGATE = re.compile("[\ud800-\udfff]")
# `##[command]` of GitHub's and Azure's runners, `##vso[`, `##teamcity[`: anywhere in a line
HASH_COMMAND = re.compile(r"##(?=\w*\[)")
# `::command::` of GitHub's, at the start of a line
COLON_COMMAND = re.compile(r"\A(\s*):(?=:)")


def visible(text: str) -> str:
    """Part of a line: without line breaks, and with an escape for what is not seen as itself."""
    if not text.isprintable() or not text.isascii():
        text = "".join(map(_shown, text))
    return HASH_COMMAND.sub(r"#\\x23", text)


def visible_line(text: str) -> str:
    """A whole line, without its line break, that no CI runner takes for a command."""
    return COLON_COMMAND.sub(r"\1\\x3a", visible(text))


def in_one_line(text: str) -> str:
    """Part of a line: as `visible`, with line breaks and runs of spaces as one space."""
    return visible(" ".join(text.split()))


def readable(text: str) -> str:
    """The text with the bytes of a name that are no UTF-8 as `\\xff`; all else stays."""
    return SURROGATE.sub(lambda found: _escape(found[0]), text)


def uri(path: str) -> str:
    """A path as a URI reference: a relative one stays relative, whatever it looks like."""
    from pathlib import PurePosixPath, PureWindowsPath  # a text report has no URIs
    from urllib.parse import quote

    path = SURROGATE.sub(lambda found: found[0] if _is_byte(found[0]) else "\ufffd", path)
    if PureWindowsPath(path).is_absolute() and PureWindowsPath(path).drive[1:] == ":":
        return PureWindowsPath(path).as_uri()
    if path.startswith("/"):
        return PurePosixPath(path).as_uri()
    return quote(path, errors="surrogateescape")


def struct_json(value: msgspec.Struct, indent: int = 2) -> bytes:
    """A struct as UTF-8 JSON with a newline at the end, and nothing unseen in it."""
    data = msgspec.json.format(encoded(value), indent=indent)
    return _escaped_json(data.decode() + "\n").encode()


def encoded(value: msgspec.Struct) -> bytes:
    """A struct as UTF-8 JSON, for programs only."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_readable_throughout(msgspec.to_builtins(value)))


def json_text(document: Any) -> str:
    """A document of dicts, lists and texts as JSON with a newline at the end, and nothing unseen in
    it."""
    import json  # only some formats need it

    return _escaped_json(
        json.dumps(_readable_throughout(document), indent=2, ensure_ascii=False) + "\n"
    )


def _escaped_json(text: str) -> str:
    """The same document: outside of its texts JSON has no such characters, and in them an escape
    means what it stands for."""
    import json

    text = re.sub(
        BEYOND_ASCII, lambda c: json.dumps(c[0])[1:-1] if _is_unseen(c[0]) else c[0], text
    )
    return HASH_COMMAND.sub(r"#\\u0023", text)


def _readable_throughout(value: Any) -> Any:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return {_readable_throughout(key): _readable_throughout(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_readable_throughout(v) for v in value]
    return value


def _shown(character: str) -> str:
    if _is_unseen(character):
        return _escape(character)
    return character if character.isprintable() else " "


def _is_unseen(character: str) -> bool:
    if character.isprintable():
        return re.match(UNSEEN, character) is not None
    return unicodedata.category(character) != "Zs"


def _escape(character: str) -> str:
    if _is_byte(character):
        return f"\\x{ord(character) - 0xDC00:02x}"
    return ascii(character)[1:-1]


def _is_byte(character: str) -> bool:
    """True for what stands for a byte of a file name that is no UTF-8 (PEP 383)."""
    return "\udc80" <= character <= "\udcff"
