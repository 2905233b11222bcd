"""Compiles of frames: their graphs, their time, and the frames that Dynamo skips."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from breakscope.dynamic.observations.facts import Break, FrameCompile
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reasons import read_reason
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame, original_name
from breakscope.dynamic.trace.header import Metrics
from breakscope.dynamic.trace.records import Record
from breakscope.report.model import Graph, SkippedFrame

RESUMED_AT = re.compile(r"_at_(\d{1,9})$")
LIMIT = re.compile(
    r"recompile limit|cache_size_limit|recompile_limit|accumulated_cache", re.IGNORECASE
)


# failures after which the frame is skipped; after any other, the program's call raises
GOES_ON = (
    "Unsupported",
    "UserError",
    "SkipFrame",
    "RecompileLimitExceeded",
    "CacheLimitExceeded",
    "SkipCodeRecursiveException",
)
SUPPRESSED = '"suppress_errors": true'


def read_compiles(records: Iterable[Record]) -> dict[str, FrameCompile]:
    """Every compile, by compile id, from `dynamo_start` and `compilation_metrics`."""
    compiles: dict[str, FrameCompile] = {}
    for record in records:
        if not record.compile_id:
            continue
        if record.kind == "dynamo_start":
            stack = record.data["stack"]
            if stack and record.compile_id not in compiles:
                last = stack[-1]
                compiles[record.compile_id] = FrameCompile(
                    record.compile_id,
                    original_name(last.function),
                    last.path,
                    last.line,
                    resumed_at=_resumed_at(last.function),
                    stack=stack,
                    phase=record.phase,
                )
        elif record.kind == "compilation_metrics":
            known = compiles.get(record.compile_id) or FrameCompile(
                record.compile_id, "", "", 0, phase=record.phase
            )
            compiles[record.compile_id] = _with_metrics(known, record.data)
    return {compile_id: _with_place(compile, compiles) for compile_id, compile in compiles.items()}


def _with_place(compile: FrameCompile, compiles: Mapping[str, FrameCompile]) -> FrameCompile:
    """A frame over its recompile limit is reported without its name: an earlier compile of the same
    frame has it."""
    if compile.path:
        return compile
    first = first_of(compile, compiles)
    if first is None:
        return compile
    return replace(
        compile,
        function=first.function,
        path=first.path,
        line=first.line,
        resumed_at=first.resumed_at,
        stack=compile.stack or first.stack,
    )


def first_of(compile: FrameCompile, compiles: Mapping[str, FrameCompile]) -> FrameCompile | None:
    """The first compile of the same frame."""
    frame, _, rest = compile.compile_id.partition("/")
    reset = rest.partition("#")[2]
    return compiles.get(f"{frame}/0#{reset}" if reset else f"{frame}/0")


def _with_metrics(compile: FrameCompile, metrics: Metrics) -> FrameCompile:
    if metrics.is_forward is False:  # the same graph's backward
        return replace(compile, seconds=compile.seconds + (metrics.duration_us or 0.0) / 1e6)
    name = metrics.co_name or compile.function
    return replace(
        compile,
        function=original_name(name),
        path=metrics.co_filename or compile.path,
        line=metrics.co_firstlineno or compile.line,
        resumed_at=_resumed_at(name) or compile.resumed_at,
        seconds=compile.seconds + (metrics.entire_frame_compile_time_s or 0.0),
        graph_ops=metrics.graph_op_count,
        guards=metrics.guard_count or 0,
        failed=metrics.graph_op_count is None,
        raised=_raised(metrics),
        fail_reason=metrics.fail_reason or "",
        fail_path=metrics.fail_user_frame_filename or "",
        fail_line=metrics.fail_user_frame_lineno or 0,
        began=compile.began or (metrics.start_time_us or 0.0) / 1e6,
        restarts=tuple(metrics.restart_reasons or ()),
        restart_seconds=metrics.dynamo_time_before_restart_s or 0.0,
    )


def _raised(metrics: Metrics) -> str:
    goes_on = not metrics.fail_type or metrics.fail_type.rpartition(".")[2] in GOES_ON
    return "" if goes_on or SUPPRESSED in (metrics.dynamo_config or "") else metrics.fail_type


def read_graphs(
    records: Iterable[Record], compiles: Mapping[str, FrameCompile]
) -> tuple[Graph, ...]:
    """Every graph with its ops, in the order of compilation."""
    graphs: dict[str, Graph] = {}
    for record in records:
        if record.kind != "dynamo_output_graph" or not record.compile_id:
            continue
        compile = compiles.get(record.compile_id)
        names = record.data["ops"]
        ops = compile.graph_ops if compile and compile.graph_ops is not None else len(names)
        graphs[record.compile_id] = Graph(
            compile_id=record.compile_id,
            function=compile.function if compile else "",
            path=compile.path if compile else "",
            line=compile.line if compile else 0,
            ops=ops,
            op_names=names,
        )
    return tuple(graph for graph in graphs.values() if graph.ops)


def skipped_frames(
    compiles: Mapping[str, FrameCompile], breaks: Iterable[Break], places: Places
) -> tuple[SkippedFrame, ...]:
    """Frames that Dynamo skips, the worst first: at their recompile limit, then because of a
    break."""
    by_compile = {compile_id: found for found in breaks for compile_id in found.compile_ids}
    skipped: dict[tuple[str, int, str, int], SkippedFrame] = {}

    def note(compile: FrameCompile | Frame, line: int, why: str, reason: str, resumed: int = 0):
        frame = SkippedFrame(
            function=compile.function,
            path=compile.path,
            line=line,
            why=why,
            reason=reason,
            resumed_at=resumed,
        )
        skipped.setdefault((compile.path, line, why, resumed), frame)

    for compile in compiles.values():
        if not compile.failed or compile.raised or not places.is_user(compile.path):
            continue
        found = by_compile.get(compile.compile_id)
        limited = is_limit(compile.fail_reason)
        if found is None and not compile.fail_reason:
            continue  # nothing to compile in this frame
        reason = found.reason.text if found else read_reason(compile.fail_reason, {}).text
        if limited:
            note(compile, compile.line, "recompile limit", reason, compile.resumed_at)
        else:
            note(compile, compile.line, (found and found.skipped) or "skipped", reason)
    for found in breaks:
        for compile in (compiles[i] for i in found.not_resumed if i in compiles):
            note(compile, compile.line, "rest", found.reason.text)
        first = found.chain[0]
        is_alone = len(found.chain) == 1 and not any(i in compiles for i in found.compile_ids)
        if found.skipped and is_alone:  # from a text log
            line = SourceFile.read(first.path).function_line(first.line) or first.line
            note(first, line, found.skipped, found.reason.text)
    return tuple(sorted(skipped.values(), key=lambda frame: frame.why != "recompile limit"))


def is_limit(fail_reason: str) -> bool:
    """True when the frame is skipped because it was compiled too often."""
    return bool(LIMIT.search(fail_reason.partition("\n")[0]))


def resume_seconds(compiles: Mapping[str, FrameCompile]) -> dict[tuple[str, int], float]:
    """Seconds spent on compiling the rest of a frame after a break, by the path and line that
    broke."""
    seconds: dict[tuple[str, int], float] = defaultdict(float)
    for compile in compiles.values():
        if compile.resumed_at:
            seconds[(compile.path, compile.resumed_at)] += compile.seconds
    return dict(seconds)


def _resumed_at(name: str) -> int:
    found = RESUMED_AT.search(name) if original_name(name) != name else None
    return int(found[1]) if found else 0
