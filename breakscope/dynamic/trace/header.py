"""The JSON of one record's first line. Only the fields that the reader needs are decoded: a trace
has many records with many fields."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import msgspec

# Numbers as torch writes them: finite, not negative, and not of thousands of digits.
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**15)]
Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e15)]


class StackFrame(msgspec.Struct):
    """One frame of a stack; `filename` is a number that a `str` record explained before."""

    line: Count = 0
    name: str = ""
    filename: Count | str = ""


class Stack(msgspec.Struct):
    stack: list[StackFrame] = []


class Artifact(msgspec.Struct):
    name: str = ""


class Metrics(msgspec.Struct):
    """A few of the several hundred fields of `compilation_metrics`, under torch's names."""

    co_name: str | None = None
    co_filename: str | None = None
    co_firstlineno: Count | None = None
    is_forward: bool | None = None
    duration_us: Amount | None = None
    entire_frame_compile_time_s: Amount | None = None
    graph_op_count: Count | None = None
    guard_count: Count | None = None
    restart_reasons: list[str] | None = None
    dynamo_time_before_restart_s: Amount | None = None
    fail_type: str | None = None
    fail_reason: str | None = None
    fail_user_frame_filename: str | None = None
    fail_user_frame_lineno: Count | None = None
    cudagraph_skip_reason: str | None = None
    pytorch_version: str | None = None  # from 2.11 or a little before
    python_version: str | None = None  # from 2.8
    start_time_us: Annotated[float, msgspec.Meta(ge=0, lt=1e18)] | None = None
    dynamo_config: str | None = None  # JSON


class Graph(msgspec.Struct):
    """The sizes of a graph's tensors are not needed: its payload is."""


class Guards(msgspec.Struct):
    """A guard tree is all payload."""


class Header(msgspec.Struct):
    """One of the first six, by the record's kind, and the compile that it belongs to."""

    artifact: Artifact | None = None
    dynamo_start: Stack | None = None
    compilation_metrics: Metrics | None = None
    dynamo_output_graph: Graph | None = None
    dynamo_cpp_guards_str: Guards | None = None
    interned: tuple[str, Count] | None = msgspec.field(default=None, name="str")
    frame_id: Count | None = None
    frame_compile_id: Count | None = None
    attempt: Count | None = None
    rank: Count | None = None

    @property
    def kind(self) -> str:
        """ "" when the record is of none of the kinds."""
        kinds = (
            "artifact",
            "dynamo_start",
            "compilation_metrics",
            "dynamo_output_graph",
            "dynamo_cpp_guards_str",
        )
        return next(
            (kind for kind in kinds if getattr(self, kind) is not None),
            "str" if self.interned else "",
        )


# cannot be written again; msgspec refuses it
HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
EXACT = msgspec.json.Decoder(Header)


def decode(head: bytes) -> Header | None:
    """The header; fields of the wrong type are left out. None when it is no JSON object."""
    try:
        header = EXACT.decode(head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        header = None
    if header is None:
        try:
            document = json.loads(HALF_CHARACTER.sub(b"?", head))  # takes NaN
        except (ValueError, RecursionError):
            return None
        header = _lenient(document, Header)
    return header


def _lenient(document: Any, kind: type) -> Any:
    """What fits of an object: field by field, and field by field in those that are objects."""
    if not isinstance(document, dict):
        return None
    found = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name not in document:
            continue
        value = document[field.encode_name]
        parts = {
            "artifact": Artifact,
            "dynamo_start": Stack,
            "compilation_metrics": Metrics,
            "dynamo_output_graph": Graph,
            "dynamo_cpp_guards_str": Guards,
        }
        if field.name in parts and kind is Header:
            found[field.name] = _lenient(value, parts[field.name])
            continue
        if field.name == "stack" and isinstance(value, list):
            found["stack"] = [
                frame for part in value if (frame := _lenient(part, StackFrame)) is not None
            ]
            continue
        try:
            found[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            continue
    return kind(**found)
