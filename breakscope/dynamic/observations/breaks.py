"""Graph breaks from the records: every site once, at the innermost line of the user's code."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from breakscope import limits
from breakscope.dynamic.observations.compiles import is_limit
from breakscope.dynamic.observations.elided_frames import with_compiled_frame
from breakscope.dynamic.observations.facts import Break, FrameCompile
from breakscope.dynamic.observations.ownership import OF_DYNAMO, Places, library_of, torchs_file
from breakscope.dynamic.observations.reasons import Reason, header_place, read_reason
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.dialects import REPEATED, SKIPPED
from breakscope.dynamic.trace.frames import Frame, original_name, read_frames
from breakscope.dynamic.trace.records import Record
from breakscope.dynamic.trace.text_log import LogMessage

UNSUPPORTED_CONTEXT = "GB0142"


@dataclass(frozen=True)
class Report:
    """One break report of one compile, before reports are merged into sites. `inner` is where
    Dynamo was, in any code; the chain ends in the user's, which its own traceback has `shown`
    or else the stack around the compile."""

    compile_id: str
    reason: Reason
    chain: tuple[Frame, ...]
    phase: str
    inner: tuple[str, int] = ("", 0)
    shown: bool = True

    @property
    def is_outside(self) -> bool:
        """True when the report shows no frame of the user's, only library code."""
        site = self.chain[-1]
        return not self.shown or (site.path, site.line) == self.inner


@dataclass(frozen=True)
class _Known:
    """What a report is read by. `roots` are the (path, function) of every compiled frame."""

    compiles: Mapping[str, FrameCompile]
    places: Places
    ids: dict[str, str]
    roots: frozenset[tuple[str, str]]
    reasons: dict[str, Reason]  # by text: one is reported again for every enclosing frame
    tracebacks: dict[str, list[Frame]]

    def reason(self, text: str) -> Reason:
        if text not in self.reasons:
            self.reasons[text] = read_reason(text, self.ids)
        return self.reasons[text]

    def frames(self, text: str) -> list[Frame]:
        if text not in self.tracebacks:
            self.tracebacks[text] = read_frames(text)
        return self.tracebacks[text]


def read_breaks(
    records: Iterable[Record],
    messages: Iterable[LogMessage],
    compiles: Mapping[str, FrameCompile],
    places: Places,
    ids: dict[str, str],
) -> tuple[Break, ...]:
    """All break sites, in the order in which they were first seen, and with them the compiles that
    raised.

    Three sources: the structured trace; the failure of a frame, where old dialects report nothing
    else; and the text log, for sites that neither shows.
    """
    known = _Known(
        compiles, places, ids, frozenset((c.path, c.function) for c in compiles.values()), {}, {}
    )
    reports = [r for r in (_from_trace(record, known) for record in records) if r]
    reported: dict[str, set[str]] = defaultdict(set)
    for report in reports:
        reported[report.compile_id].add(report.reason.type)
    for compile in compiles.values():
        # behind a break of the same compile, something else may have raised
        named = reported[compile.compile_id]
        is_named = known.reason(compile.fail_reason).type in named if compile.raised else named
        if (
            compile.failed
            and compile.fail_reason
            and not is_named
            and not is_limit(compile.fail_reason)
        ):
            report = _from_failure(compile, records, known)
            reports += [report] if report else []
    seen = {(r.chain[-1].path, r.chain[-1].line) for r in reports}
    for message in messages:
        report = _from_log(message, known)
        if report and (report.chain[-1].path, report.chain[-1].line) not in seen:
            reports.append(report)
    return _merge(_without_echoes(reports), compiles)


def _without_echoes(reports: list[Report]) -> list[Report]:
    """Leaves out what a library function reports of itself, when the break inside it is known by
    the user's line that called it: Dynamo compiles that function by itself next, and meets the
    break again. What a caller reports whose traceback leaves out the frames below it gets the chain
    of the function that it called."""
    inside: dict[tuple[str, int], list[tuple[Frame, ...]]] = defaultdict(list)
    for report in reports:
        if not report.is_outside:
            inside[report.inner].append(report.chain)
    return [
        replace(report, chain=_whole(report.chain, inside.get(report.inner, ())))
        for report in reports
        if not report.is_outside or report.inner not in inside
    ]


def _whole(chain: tuple[Frame, ...], others: Iterable[tuple[Frame, ...]]) -> tuple[Frame, ...]:
    """The longest of the chains that begin as this one does."""

    def steps(frames: tuple[Frame, ...]) -> list[tuple[str, int]]:
        return [(frame.path, frame.line) for frame in frames]

    return max(
        (other for other in others if steps(other)[: len(chain)] == steps(chain)),
        key=len,
        default=chain,
    )


def _from_trace(record: Record, known: _Known) -> Report | None:
    if record.name != "dynamo_graph_break_reason":
        return None
    return _report(record.payload, record.compile_id, record.phase, known)


def _from_log(message: LogMessage, known: _Known) -> Report | None:
    if message.artifact != "graph_breaks" or header_place(message.text) is None:
        return None
    if "User code traceback" not in message.text and REPEATED not in message.text:
        return None
    return _report(message.text, message.compile_id, message.phase, known)


def _report(text: str, compile_id: str, phase: str, known: _Known) -> Report | None:
    if text.startswith(SKIPPED):
        return None  # up to 2.9, beside the frame's own failure, which has more
    reason = known.reason(text)
    if is_limit(reason.type):
        return None
    frames = known.frames(text)
    place = header_place(text)
    if not frames and place:
        frames = [Frame(place[0], place[1], "")]
    chain, shown = _chain(frames, known.compiles.get(compile_id), known)
    inner = (frames[-1].path, frames[-1].line) if frames else ("", 0)
    return Report(compile_id, reason, chain, phase, inner, shown) if chain else None


def _from_failure(compile: FrameCompile, records: Iterable[Record], known: _Known) -> Report | None:
    """A frame that failed without a break report: read the error's own traceback."""
    frames: list[Frame] = []
    for record in records:
        if record.name == "dynamo_error" and record.compile_id == compile.compile_id:
            frames = read_frames(record.payload, "from user code:")
    if not frames and compile.fail_path:
        frames = [Frame(compile.fail_path, compile.fail_line, compile.function)]
    chain, _ = _chain(frames, compile, known)
    if not chain:
        return None
    return Report(
        compile.compile_id,
        replace(known.reason(compile.fail_reason), abandoned=True),
        chain,
        compile.phase,
    )


def _chain(
    frames: list[Frame], compile: FrameCompile | None, known: _Known
) -> tuple[tuple[Frame, ...], bool]:
    """The user's frames down to the break; where all are library code, those that led to the
    compiled frame, and False."""
    frames = (
        with_compiled_frame(frames, compile, known.compiles, known.places) if compile else frames
    )
    chain = _users(frames, known)
    shown = bool(chain)
    if not chain and compile is not None:
        chain = _users(compile.stack, known)
    if not chain:  # torch's code alone: a break all the same
        named = [
            frame
            for frame in (*(compile.stack if compile else ()), *frames)
            if not known.places.is_own(frame.path)
        ]
        inside = [f for f in named if library_of(f.path) and not OF_DYNAMO.search(f.path)] or named
        chain = [replace(f, function=original_name(f.function)) for f in inside[-1:]]
    if all(library_of(frame.path) for frame in chain):
        chain = [*_entering(compile, frames, chain, known), *chain]
    return tuple(chain), shown


def _entering(
    compile: FrameCompile | None, frames: list[Frame], chain: list[Frame], known: _Known
) -> list[Frame]:
    """The user's line outside of the compiled region that leads into an installed package; a
    module's own code too, which no region has. The report's own frames have it where the stack
    around the compile begins inside torch."""
    stacks = ((compile.stack if compile else ()), frames)
    found = next((user for stack in stacks if (user := known.places.entering(stack))), None)
    return [found] if found and chain else []


def _users(frames: Iterable[Frame], known: _Known) -> list[Frame]:
    """The user's among some frames, from the first that was compiled: what called it is not traced.

    In a run of ours they begin below our own frames.
    """
    named = [
        frame
        if frame.function == (name := original_name(frame.function))
        else replace(frame, function=name)
        for frame in frames
    ]
    if any(known.places.is_own(frame.path) for frame in named):
        return known.places.chain(named)
    first = next(
        (i for i, frame in enumerate(named) if (frame.path, frame.function) in known.roots), 0
    )
    return known.places.chain(named[first:]) or known.places.chain(named)


def _merge(reports: Iterable[Report], compiles: Mapping[str, FrameCompile]) -> tuple[Break, ...]:
    """One Break for each (file, line, GB id); a compile's repeated attempts count once."""
    merged: dict[tuple[str, int, str, bool], Break] = {}
    for report in reports:
        site, compile = report.chain[-1], compiles.get(report.compile_id)
        raised = _raised(report, compile)
        key = (site.path, site.line, report.reason.gb_id or report.reason.type, bool(raised))
        skipped = "" if raised else _skipped(report, compile)
        backward = report.phase.startswith("capture backward")
        rest = (report.compile_id,) if report.reason.not_resumed else ()
        known = merged.get(key)
        if known is None:
            merged[key] = Break(
                site,
                report.reason,
                report.chain,
                (report.compile_id,),
                skipped,
                backward,
                not_resumed=rest,
                raised=raised,
                inside_torch=torchs_file(report.inner[0]),
                entered=_is_entered(compile),
            )
            continue
        again = report.compile_id in known.compile_ids
        merged[key] = replace(
            known,
            chain=max(known.chain, report.chain, key=len),
            compile_ids=known.compile_ids if again else (*known.compile_ids, report.compile_id),
            skipped=known.skipped or skipped,
            backward=known.backward and backward,
            entered=known.entered and _is_entered(compile),
            count=known.count + (not again),
            not_resumed=(*known.not_resumed, *rest),
        )
    return tuple(merged.values())


def _is_entered(compile: FrameCompile | None) -> bool:
    """Torch's own function is compiled: the user's line that calls it is outside."""
    return compile is not None and bool(torchs_file(compile.path))


def _raised(report: Report, compile: FrameCompile | None) -> str:
    """What the compile raised, where this report is about that."""
    if compile is None or not compile.raised:
        return ""
    same = read_reason(compile.fail_reason, {}).type == report.reason.type
    text = f"{compile.raised}: {compile.fail_reason}"
    return text[: limits.LONGEST_REASON] if same else ""


def _skipped(report: Report, compile: FrameCompile | None) -> str:
    """Why the frame is skipped as a whole: "loop", "with", "try", "skipped"; from here on: "rest";
    "" when it continues in a new graph."""
    if report.reason.not_resumed:
        return "rest"
    if not (report.reason.abandoned or (compile and compile.failed)):
        return ""
    wrapper = report.reason.wrapped_by.lower()
    if "loop" in wrapper:
        return "loop"
    if "context" in wrapper or report.reason.gb_id == UNSUPPORTED_CONTEXT:
        return "with"
    if "except" in wrapper or "try" in wrapper.split():
        return "try"
    return _around(report, compile) or ("rest" if compile and compile.resumed_at else "skipped")


def _around(report: Report, compile: FrameCompile | None) -> str:
    """The loop, try or with of the compiled frame that stands around the break, from its source."""
    frame = next(
        (
            f
            for f in report.chain
            if compile and (f.path, f.function) == (compile.path, compile.function)
        ),
        report.chain[-1],
    )
    names = {
        ast.For: "loop",
        ast.While: "loop",
        ast.AsyncFor: "loop",
        ast.Try: "try",
        ast.With: "with",
    }
    inside = ""
    for node in SourceFile.read(frame.path).enclosing(frame.line):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inside = ""
        elif type(node) in names and node.lineno != frame.line:
            inside = names[type(node)]
    return inside
