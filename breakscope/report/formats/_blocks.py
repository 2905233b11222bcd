"""The blocks of the text format around the findings: an error, what a run was. Each is a list of
lines."""

from __future__ import annotations

from collections.abc import Iterable

from breakscope import limits
from breakscope.report import frames
from breakscope.report.formats._layout import EMPTY, Line, expand, hanging, wrap
from breakscope.report.formats._peeled import peeled_texts
from breakscope.report.model import (
    CudaGraph,
    Divergence,
    Finding,
    Gap,
    RankEvent,
    Report,
    ReportError,
)
from breakscope.report.summary import count, gap_text

ENDED = {
    "failed": "the run failed",
    "timeout": "the run reached its time limit",
    "killed": "the run was interrupted or killed",
    "no-capture": "nothing was captured",
}


def error_lines(error: ReportError, width: int | None) -> list[Line]:
    place = f"{error.path}:{error.line or 1}:" if error.path else "breakscope:"
    lines = hanging([(place, "bold"), ("error:", "bold red")], error.message, width)
    lines += [[("    " + expand(line), "dim")] for line in error.detail.splitlines()]
    return lines


def gap_lines(gap: Gap, width: int | None) -> list[Line]:
    place = f"{gap.path}:{gap.line or 1}:" if gap.path else "breakscope:"
    return hanging([(place, "bold"), ("gap:", "bold red")], gap_text(gap), width)


def run_lines(report: Report, width: int | None) -> list[Line]:
    """What a reader needs before the findings: what a run does not prove, frames that it skipped
    for another reason than a break."""
    run = report.run
    if run is None:
        lines = _note_lines(report.notes, width)
        return [*lines, EMPTY] if lines else []
    notes = [*report.notes, *run.notes]
    if run.status != "ok":
        notes.insert(
            0, f"{ENDED.get(run.status, run.status)}: what follows is what was seen until then"
        )
    elif not run.capture_checked:
        notes.insert(
            0,
            "the capture did not see the break of its self-test, so breaks may be missing below",
        )
    lines = _note_lines(notes, width)
    if run.peeled is not None:
        lines += [
            line
            for text in peeled_texts(run.peeled)
            for line in hanging([("peel:", "bold")], text, width)
        ]
    if run.divergence is not None:
        text = _diverging(run.divergence, run.status)
        lines += hanging([("ranks diverge:", "bold red")], text, width)
    explained = {_skipped_frame(f) for f in report.findings if f.lost}
    for frame in run.lost_frames:
        if (frame.path, frame.function.rpartition(".")[2]) in explained:
            continue
        text = frames.sentence(frame.function, frame.why)
        if frame.reason and frame.reason != frame.why:
            text += f" ({' '.join(frame.reason.split())})"
        lines += hanging(
            [(f"{frame.path}:{frame.line}:", "bold"), ("frame:", "bold red")], text, width
        )
    for found in run.cuda_graphs:
        place = f"{found.path}:{found.line}:" if found.path else "breakscope:"
        lines += hanging(
            [(place, "bold"), ("CUDA graph:", "bold yellow")], cuda_graph_text("one", found), width
        )
    lines += _sync_lines(report, width)
    return [*lines, EMPTY] if lines else []


def _note_lines(notes: Iterable[str], width: int | None) -> list[Line]:
    return [line for note in notes for line in hanging([("note:", "bold yellow")], note, width)]


def _sync_lines(report: Report, width: int | None) -> list[Line]:
    """Host syncs at lines without a finding that counts them."""
    counted = {(finding.path, finding.line) for finding in report.findings if finding.host_syncs}
    rest = [sync for sync in report.run.host_syncs or () if (sync.path, sync.line) not in counted]
    lines: list[Line] = []
    for sync in rest[: limits.MOST_SHOWN_SYNCS]:
        place = f"{sync.path}:{sync.line}:" if sync.path else "breakscope:"
        what = (
            f"`{sync.code or sync.function}`"
            if sync.path
            else f"the {sync.function or 'step, at no line of yours,'}"
        )
        lines += hanging(
            [(place, "bold"), ("host sync:", "bold yellow")],
            f"{what} makes the CPU wait for the GPU {count(sync.count, 'time')} per step",
            width,
        )
    if len(rest) > limits.MOST_SHOWN_SYNCS:
        lines += hanging(
            [("host syncs:", "bold yellow")],
            f"at {count(len(rest) - limits.MOST_SHOWN_SYNCS, 'more place')}",
            width,
        )
    return lines


def _skipped_frame(finding: Finding) -> tuple[str, str]:
    """The path and name of the function that is skipped because of a break."""
    name = (finding.lost_function or finding.function).rpartition(".")[2]
    paths = (
        link.path
        for link in finding.chain
        if finding.lost_function and link.function == finding.lost_function
    )
    return next(paths, finding.path), name


def cuda_graph_text(what: str, found: CudaGraph) -> str:
    """ "the one of `f` was left out: mutated inputs (1 instances) (2 times)"; `what` stands for
    "one"."""
    who = (
        f"the {what} of `{found.function}`"
        if found.function
        else "one"
        if what == "one"
        else f"a {what}"
    )
    times = f" ({count(found.count, 'time')})" if found.count > 1 else ""
    return f"{who} was {'left out' if found.kind == 'skipped' else 'recorded again'}: {found.reason}{times}"


def _diverging(found: Divergence, status: str) -> str:
    """What each rank did at the first event that is not the same on all."""
    by_event: dict[str, list[int]] = {}
    for event in found.events:
        by_event.setdefault(_event(event), []).append(event.rank)
    first = (
        f"after {count(found.position, 'equal event')}, "
        if found.position
        else "from the first event on, "
    )
    ranks = (
        f"{'rank' if len(r) == 1 else 'ranks'} {', '.join(map(str, r))} {what}"
        for what, r in by_event.items()
    )
    stopped = status != "ok" and any(event.kind == "nothing" for event in found.events)
    waited = (
        "; those that did nothing more waited, or were stopped on the way there" if stopped else ""
    )
    return first + "; ".join(ranks) + waited


def _event(event: RankEvent) -> str:
    place = f"`{event.function}` at {event.path}:{event.line}"
    return {
        "compile": f"compiled {place}",
        "recompile": f"compiled {place} again because the guard `{event.what}` failed",
        "break": f"broke the graph in {place} ({event.what})",
        "nothing": "did nothing more",
    }[event.kind]


def summary_lines(text: str, width: int | None) -> list[Line]:
    return [[(line, "bold")] for line in wrap(text, width, width)]
