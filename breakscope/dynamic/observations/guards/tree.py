"""What one compiled version of a function was made for: the leaves of its guard tree, as facts.

`dynamo_cpp_guards_str` lists every guard of a version, so two versions can be compared in all that
both check, where `recompile_reasons` names only the first guard that failed in each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from breakscope import limits
from breakscope.dynamic.trace.dialects import in_user_words

Key = tuple[str, str]  # a name as Dynamo writes it, and what of it is guarded
ANY = ""  # the value of what the version leaves open, such as a dynamic size

LEAF = re.compile(
    rb"^[\t| ]*\+- (?P<kind>TENSOR_MATCH|EQUALS_MATCH|CONSTANT_MATCH|ID_MATCH|BOOL_MATCH|TYPE_MATCH|"
    rb"NONE_MATCH|DICT_LENGTH|SEQUENCE_LENGTH|LENGTH_CHECK|GLOBAL_STATE): (?P<text>.*)$",
    re.MULTILINE,
)
TENSOR = re.compile(
    r"check_tensor\((?P<name>.+?), (?P<type>\w+), DispatchKeySet\([^)]*\), (?P<dtype>[\w.]+), "
    r"device=(?P<device>[^,]+), requires_grad=(?P<requires_grad>\w+), size=\[(?P<size>[^\]]*)\], "
    r"stride=\[(?P<stride>[^\]]*)\]\)"
)
EQUAL = re.compile(r"(?P<name>[^=<>!]+?) == (?P<value>.+)$")
OBJECT = re.compile(r"___check_obj_id\((?P<name>.+), (?P<value>\d+)\)")
TYPE = re.compile(r"___check_type_id\((?P<name>.+), (?P<value>\d+)\)")
NONE = re.compile(r"(?P<name>.+) is None$")
EMPTY = re.compile(r"not (?P<name>[\w.\[\]'\"]+)$")
COMMENT = re.compile(r"\s+# ")
STATE = "GLOBAL_STATE"
WORDS = {"autocast_state": "autocast"}


@dataclass(frozen=True)
class Version:
    """The guards of one version: by key the value that it was compiled for (`ANY` where it serves
    every one), and the guard's text with the line that needs it."""

    values: dict[Key, str]
    texts: dict[Key, str]


def read_version(payload: bytes) -> Version:
    """The facts in the text of a guard tree."""
    values: dict[Key, str] = {}
    texts: dict[Key, str] = {}
    for found in LEAF.finditer(payload[: limits.LARGEST_RECORD]):
        text = found["text"].decode("utf-8", "replace").strip()
        for key, value in _facts(found["kind"].decode(), text):
            if key not in values:
                values[key], texts[key] = value, text
    return Version(values, texts)


def _facts(kind: str, text: str) -> Iterator[tuple[Key, str]]:
    comment = COMMENT.search(text)
    guard = in_user_words(text[: comment.start()] if comment else text)
    if kind == "GLOBAL_STATE":
        yield from _state(guard)
    elif kind == "TENSOR_MATCH":
        yield from _tensor(guard)
    elif found := TYPE.match(guard):
        yield (found["name"], "type"), found["value"]
        yield (found["name"], "none"), "False"
    elif found := OBJECT.match(guard):
        yield (found["name"], "none"), str("NoneType" in guard)
        yield (found["name"], "id"), found["value"]
    elif found := NONE.match(guard):
        yield (found["name"], "none"), "True"
    elif found := EMPTY.match(guard):
        yield (f"len({found['name']})", "value"), "0"
    elif found := EQUAL.match(guard):
        yield (found["name"], "value"), found["value"]


def _state(guard: str) -> Iterator[tuple[Key, str]]:
    try:
        state = json.loads(guard.partition(" against ")[2])
    except (ValueError, RecursionError):
        return
    for name, value in state.items() if isinstance(state, dict) else ():
        yield (STATE, WORDS.get(name, name)), json.dumps(value)


def _tensor(guard: str) -> Iterator[tuple[Key, str]]:
    found = TENSOR.match(guard)
    if found is None:
        return
    name = found["name"]
    yield (name, "none"), "False"
    for what in ("dtype", "device", "requires_grad"):
        yield (name, what), found[what]
    sizes = _numbers(found["size"])
    yield (name, "rank"), str(len(sizes))
    for what, numbers in (("size", sizes), ("stride", _numbers(found["stride"]))):
        for index, number in enumerate(numbers):
            yield (name, f"{what} {index}"), ANY if number == "None" else number


def _numbers(text: str) -> list[str]:
    return [number.strip() for number in text.split(",")] if text.strip() else []
