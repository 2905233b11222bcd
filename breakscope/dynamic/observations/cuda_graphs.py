"""CUDA graphs that inductor left out or recorded again, and why: from the metrics of compiles and
from the text log.

torch 2.13 writes `skipping cudagraphs due to REASON`, with the user's stack behind `Found from :`
where it has it, and (TORCH_LOGS=+cudagraphs) `Re-recording function=NAME, mode=MODE,
reason=REASON` (2.11: without the mode). The metrics of a compile keep its last reason; what shows
only in a call, as mutated inputs and new sizes do, stands in the log alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from breakscope import limits
from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.trace.frames import original_name
from breakscope.dynamic.trace.records import Record
from breakscope.dynamic.trace.text_log import LogMessage
from breakscope.report.model import CudaGraph

SKIPPED = re.compile(r"^skipping cudagraphs? due to (?P<reason>.{1,20000})", re.DOTALL)
AGAIN = re.compile(
    r"Re-recording function=[^,\n]{1,400},(?: mode=\w{1,40},)? reason=(?P<reason>.{1,20000})",
    re.DOTALL,
)
SIZES = re.compile(
    r"CUDAGraph supports dynamic shapes by recording a new graph.{1,400}We have observed (?P<reason>\d{1,9} distinct sizes)",
    re.DOTALL,
)
PREFIX = re.compile(r"^(?:skipping cudagraphs? due to )+")
POINTERS = re.compile(r" from \d{1,20} to \d{1,20}|\s*input stack trace: None")
STACK = re.compile(r"\.?\s*Found from ?:.*", re.DOTALL)
FRAME = re.compile(
    r'File "(?P<path>[^"\n]{1,4096})", line (?P<line>\d{1,9}), in (?P<name>[^\n]{1,400})'
)


def read_cuda_graphs(
    records: Iterable[Record],
    messages: Iterable[LogMessage],
    compiles: Mapping[str, FrameCompile],
    places: Places,
) -> tuple[CudaGraph, ...]:
    """Each reason at each place once, with how often it was reported; what trace and log both
    report counts once."""
    counts: dict[tuple[str, str, str], int] = {}
    for record in records:
        if record.kind == "compilation_metrics" and record.data.cudagraph_skip_reason:
            key = ("skipped", record.compile_id, _plain(record.data.cudagraph_skip_reason))
            counts[key] = counts.get(key, 0) + 1
    in_trace = set(counts)
    for message in messages:
        kind, reason = _reported(message.text)
        key = (kind, message.compile_id, reason)
        if kind and key not in in_trace:
            counts[key] = counts.get(key, 0) + 1
    return _facts(counts, compiles, places)


def captured_cuda_graphs(texts: Iterable[str], places: Places) -> tuple[CudaGraph, ...]:
    """Those of messages that a process captured itself."""
    counts: dict[tuple[str, str, str], int] = {}
    for text in texts:
        kind, reason = _reported(text)
        if kind:
            counts[kind, "", reason] = counts.get((kind, "", reason), 0) + 1
    return _facts(counts, {}, places)


def _reported(text: str) -> tuple[str, str]:
    """What a message reports of a CUDA graph: the kind of fact, and the reason; ("", "") for any
    other message."""
    if found := SKIPPED.search(text):
        return "skipped", _plain(found["reason"])
    found = AGAIN.search(text) or SIZES.search(text)
    return ("recorded again", POINTERS.sub("", _plain(found["reason"]))) if found else ("", "")


def _facts(
    counts: Mapping[tuple[str, str, str], int], compiles: Mapping[str, FrameCompile], places: Places
) -> tuple[CudaGraph, ...]:
    facts: dict[CudaGraph, int] = {}
    for (kind, compile_id, text), number in counts.items():
        fact = _fact(kind, text, compiles.get(compile_id), places)
        facts[fact] = facts.get(fact, 0) + number
    return tuple(msgspec.structs.replace(fact, count=number) for fact, number in facts.items())


def reason_of(text: str) -> str:
    """The reason alone, in one line: "mutated inputs (1 instances)"."""
    return " ".join(STACK.sub("", _plain(text)).split()).rstrip(".")[
        : limits.LONGEST_CUDA_GRAPH_REASON
    ]


def _plain(text: str) -> str:
    return PREFIX.sub("", text.strip())


def _fact(kind: str, text: str, compile: FrameCompile | None, places: Places) -> CudaGraph:
    """At the innermost line of the user's that the message names, else where the compiled function
    begins."""
    frames = [frame for frame in FRAME.finditer(text) if places.is_user(frame["path"])]
    if frames:
        last = frames[-1]
        place = (last["path"], int(last["line"]), original_name(last["name"].strip()))
    else:
        place = (compile.path, compile.line, compile.function) if compile else ("", 0, "")
    return CudaGraph(
        kind=kind, reason=reason_of(text), path=place[0], line=place[1], function=place[2]
    )
