"""The blocks of the text format around the findings: an error, what a run was. Each is a list of
lines."""

from __future__ import annotations

from collections.abc import Iterable

from breakscope import limits
from breakscope.report import frames
from breakscope.report.comparing.budget import Baseline, Budget
from breakscope.report.formats._layout import (
    EMPTY,
    Line,
    expand,
    hanging,
    with_dots,
    wrap,
)
from breakscope.report.formats.of_runs.fake import fake_texts
from breakscope.report.formats.of_runs.peeled import peeled_texts
from breakscope.report.model import (
    CudaGraph,
    Finding,
    Gap,
    Report,
    ReportError,
)
from breakscope.report.run_modes import Divergence, RankEvent
from breakscope.report.summary import asides, count, gap_text, how_bad, summary
from breakscope.report.verdict import verdict

BUDGETS = {True: "bold green", False: "bold red"}
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
    if run.status == "not-run":
        if report.findings:
            notes.insert(0, "nothing ran under torch.compile: the findings are of source analysis")
    elif run.status != "ok":
        notes.insert(
            0, f"{ENDED.get(run.status, run.status)}: what follows is what was seen until then"
        )
    elif not run.capture_checked:
        notes.insert(
            0,
            "the capture did not see the break of its self-test, so breaks may be missing below",
        )
    lines = _note_lines(notes, width)
    if run.fake is not None:
        lines += [
            line
            for text in fake_texts(run.fake, run.status)
            for line in hanging([("fake:", "bold")], text, width)
        ]
    if run.peeled is not None:
        lines += [
            line
            for text in peeled_texts(run.peeled)
            for line in hanging([("peel:", "bold")], text, width)
        ]
    if run.divergence is not None:
        for label, text in _diverging(run.divergence, run.status):
            lines += hanging([(label, "bold red")], text, width)
    explained = {_skipped_frame(f) for f in report.findings if f.lost}
    lines_of_these = {(f.path, f.line) for f in report.findings if f.lost}
    for frame in run.lost_frames:
        name = frame.function.rpartition(".")[2]
        # a comprehension is skipped with the line that it stands in
        of_line = name.startswith("<") and (frame.path, frame.line) in lines_of_these
        if of_line or (frame.path, name) in explained:
            continue
        text = frames.sentence(frame.function, frame.why, frame.resumed_at)
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


def _diverging(found: Divergence, status: str) -> list[tuple[str, str]]:
    """What each rank did at the first event that is not the same on all, with its label."""
    by_event: dict[str, list[int]] = {}
    for event in found.events:
        by_event.setdefault(_event(event), []).append(event.rank)
    first = (
        f"after {count(found.position, 'equal event')}"
        if found.position
        else "from the first event on"
    )
    stopped = status != "ok" and any(event.kind == "nothing" for event in found.events)
    return [
        ("ranks diverge:", first),
        *(
            (f"{'rank' if len(r) == 1 else 'ranks'} {', '.join(map(str, r))}:", what)
            for what, r in by_event.items()
        ),
        *(
            [("note:", "ranks that did nothing more waited, or were stopped on the way there")]
            if stopped
            else []
        ),
    ]


def _event(event: RankEvent) -> str:
    place = f"`{event.function}` at {event.path}:{event.line}"
    return {
        "compile": f"compiled {place}",
        "recompile": f"compiled {place} again because the guard `{event.what}` failed",
        "break": f"broke the graph in {place} ({event.what})",
        "nothing": "did nothing more",
    }[event.kind]


def baseline_lines(baseline: Baseline | None, width: int | None) -> list[Line]:
    """What the baseline's entries are that are not found any more, and what has become worse."""
    if baseline is None:
        return []
    lines = budget_lines([budget for budget in baseline.budgets if not budget.kept], width)
    for stale in baseline.stale:
        where = f"{stale.path}: {stale.code}" + (
            f" in `{stale.function}`" if stale.function else ""
        )
        text = f"{where} is found no more; --write-baseline removes it: {stale.content}"
        lines += hanging([("stale in the baseline:", "bold yellow")], text, width)
    return lines


def budget_lines(budgets: Iterable[Budget], width: int | None) -> list[Line]:
    """A line for each budget: is it kept?"""
    return [
        line
        for budget in budgets
        for line in hanging([(f"{budget.label}:", BUDGETS[budget.kept])], budget.what, width)
    ]


def last_lines(report: Report, width: int | None) -> list[Line]:
    """Where the eye ends: the worst finding, what to do first, and how bad it is; above them what
    else is to be said. Where there is no worst one, a single line."""
    first = verdict(report)
    if not first:
        return _bold(summary(report), width)
    lines = _aside(asides(report), width)
    for line in first:
        label, _, text = line.partition(": ")
        lines += with_dots(hanging([(f"{label}:", "bold")], text, width), 1, width)
    return [*lines, *_bold(how_bad(report), width)]


def _bold(text: str, width: int | None) -> list[Line]:
    return [[(line, "bold")] for line in wrap(text, width, width)]


def _aside(text: str, width: int | None) -> list[Line]:
    return hanging([("note:", "bold yellow")], text, width) if text else []
