"""The blocks of the text format: a finding, an error, what a run was. Each is a list of lines."""

from __future__ import annotations

from breakscope.report.formats._layout import Line, columns_before, crop_around, expand, wrap
from breakscope.report.formats._peeled import peeled_texts
from breakscope.report.model import Cost, CudaGraph, Divergence, Finding, Link, RankEvent, Report, ReportError
from breakscope.report.summary import count, duration, per_step

EMPTY: Line = []
MOST_LINES = 6
MOST_VALUES = 6
ENDED = {"failed": "the run failed", "timeout": "the run reached its time limit", "killed": "the run was interrupted or killed",
         "no-capture": "nothing was captured"}
LOST_BY = {
    "loop": "a break in a loop", "try": "a break in a `try`", "with": "a break in a `with`", "skipped": "Dynamo skipped it",
    "recompile limit": "it was compiled again too often",
}
CODE_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
CARET_STYLES = {"error": "red", "warning": "yellow", "info": "cyan"}


def finding_lines(finding: Finding, width: int | None) -> list[Line]:
    """The finding in at most MOST_LINES lines, unless its own words need more on a narrow terminal."""
    head = _head(finding, width)
    frame, leftover = _frame(finding, width)
    advice, guard, chain = _advice(finding), _guard(finding), _chain(finding)
    lost = _join(_behind(finding), _lost(finding))
    notes = [*equal_lines(advice, width), *equal_lines(_join(leftover, lost, guard, chain), width)]
    if len(head) + len(frame) + len(notes) > MOST_LINES and len(frame) == 3:
        frame = frame[1:]  # without the line before
    room = MOST_LINES - len(head) - len(frame)
    for fewer in (_short_chain(finding), ""):  # one paragraph, without the guard, and less and less of how the place is reached
        if len(notes) > room:
            notes = equal_lines(_join(advice, leftover, lost, fewer), width)
    return [*head, *frame, *notes]


def fix_lines(finding: Finding) -> list[Line]:
    """The suggested rewrite as a difference; of the old lines those that the report holds."""
    fix = finding.fix
    if fix is None:
        return []
    first = finding.first_source_line
    old = [finding.source[n - first] for n in range(fix.line, fix.end_line + 1) if 0 <= n - first < len(finding.source)]
    left_out = fix.end_line + 1 - fix.line - len(old)
    lines: list[Line] = [[("    - ", "red"), (expand(line), "red")] for line in old]
    if left_out:
        lines.append([("    - ", "red"), (f"... {count(left_out, 'more line')}", "dim")])
    return [*lines, *([("    + ", "green"), (expand(line), "green")] for line in fix.replacement.splitlines())]


def error_lines(error: ReportError, width: int | None) -> list[Line]:
    place = f"{error.path}:{error.line or 1}:" if error.path else "breakscope:"
    lines = hanging([(place, "bold"), ("error:", "bold red")], error.message, width)
    lines += [[("    " + expand(line), "dim")] for line in error.detail.splitlines()]
    return lines


def run_lines(report: Report, width: int | None) -> list[Line]:
    """What a reader must know before the findings: a run that proves little, frames that were lost without a word."""
    run = report.run
    given_up = [line for note in report.notes for line in hanging([("note:", "bold yellow")], note, width)]
    if run is None:
        return [*given_up, EMPTY] if given_up else []
    notes = [*report.notes, *run.notes]
    if run.status != "ok":
        notes.insert(0, f"{ENDED.get(run.status, run.status)}: what follows is what was seen until then")
    elif not run.capture_checked:
        notes.insert(0, "the capture did not see its own planted break, so silence below does not mean clean")
    lines = [line for note in notes for line in hanging([("note:", "bold yellow")], note, width)]
    if run.peeled is not None:
        lines += [line for text in peeled_texts(run.peeled) for line in hanging([("peel:", "bold")], text, width)]
    if run.divergence is not None:
        lines += hanging([("ranks part:", "bold red")], _parting(run.divergence, run.status), width)
    explained = {_lost_frame(f) for f in report.findings if f.lost}
    for frame in run.lost_frames:
        if (frame.path, frame.function.rpartition(".")[2]) in explained:
            continue
        why = f"all of `{frame.function}` runs eager: {LOST_BY.get(frame.why, frame.why)}"
        if frame.reason and frame.reason != frame.why:
            why += f" ({' '.join(frame.reason.split())})"
        lines += hanging([(f"{frame.path}:{frame.line}:", "bold"), ("lost:", "bold red")], why, width)
    for found in run.cuda_graphs:
        place = f"{found.path}:{found.line}:" if found.path else "breakscope:"
        lines += hanging([(place, "bold"), ("CUDA graph:", "bold yellow")], _cuda_graph(found), width)
    return [*lines, EMPTY] if lines else []


def _lost_frame(finding: Finding) -> tuple[str, str]:
    """The path and name of the function that a break made run eager."""
    name = (finding.lost_function or finding.function).rpartition(".")[2]
    paths = (link.path for link in finding.chain if finding.lost_function and link.function == finding.lost_function)
    return next(paths, finding.path), name


def _cuda_graph(found: CudaGraph) -> str:
    where = f" of `{found.function}`" if found.function else ""
    times = f" ({count(found.count, 'time')})" if found.count > 1 else ""
    return f"the one{where} was {'left out' if found.kind == 'skipped' else 'recorded again'}: {found.reason}{times}"


def _parting(found: Divergence, status: str) -> str:
    """What each rank did at the first event that is not the same on all."""
    told: dict[str, list[int]] = {}
    for event in found.events:
        told.setdefault(_event(event), []).append(event.rank)
    first = f"after {count(found.position, 'equal event')}, " if found.position else "from the first event on, "
    ranks = (f"{'rank' if len(r) == 1 else 'ranks'} {', '.join(map(str, r))} {what}" for what, r in told.items())
    stopped = status != "ok" and any(event.kind == "nothing" for event in found.events)
    return first + "; ".join(ranks) + ("; those that did nothing more waited, or were stopped on the way there" if stopped else "")


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


def _head(finding: Finding, width: int | None) -> list[Line]:
    place = f"{finding.path}:{finding.line}:{finding.column}:"
    return hanging([(place, "bold"), (finding.code, CODE_STYLES[finding.severity])], finding.message, width)


def hanging(labels: Line, message: str, width: int | None, indent: str = "    ") -> list[Line]:
    """Labels, which are never cut, and behind them the message, whose further lines are indented.

    The first label is the place; when not even the labels fit, it has a line of its own.
    """
    before: list[Line] = []
    prefix: Line = [piece for label in labels for piece in (label, (" ", ""))]
    if width is not None and _width(prefix) > width:
        before, prefix = [labels[:1]], [(indent, ""), *prefix[2:]]
    first = None if width is None else max(width - _width(prefix), 0)
    rest = None if width is None else max(width - len(indent), 20)
    lines = wrap(message, first, rest)
    return [*before, [*prefix, (lines[0], "")], *([(indent + line, "")] for line in lines[1:])]


def _width(line: Line) -> int:
    text = "".join(piece for piece, _ in line)
    return columns_before(text, len(text) + 1)


def _frame(finding: Finding, width: int | None) -> tuple[list[Line], str]:
    """The source frame: the line before, the line itself, carets with the evidence; and the evidence when it did not
    find room there."""
    index = finding.line - finding.first_source_line
    condition = f"only when `{finding.condition}`" if finding.condition else ""
    if not 0 <= index < len(finding.source):
        return [], _notes(finding, ids=True, condition=condition)
    raw = finding.source[index]
    line = expand(raw).rstrip()
    start = columns_before(raw, finding.column)
    end = (
        columns_before(raw, finding.end_column)
        if finding.end_line == finding.line
        else columns_before(line, len(line) + 1)
    )
    gutter = max(len(str(finding.line)) + 1, 5)
    room = None if width is None else max(width - gutter - 3, 20)
    shown, start, end = crop_around(line, start, max(end, start + 1), room)
    lines: list[Line] = []
    before = expand(finding.source[index - 1]).rstrip() if index > 0 else ""
    if before:
        lines.append([(f"{finding.line - 1:>{gutter}} | ", "dim"), (crop_around(before, 0, 1, room)[0], "dim")])
    lines.append([(f"{finding.line:>{gutter}} | ", "dim"), (shown, "")])
    blank, carets = (" " * gutter + " | ", "dim"), ("^" * (end - start), CARET_STYLES[finding.severity])
    choices = [
        (_notes(finding, ids=True, condition=condition), ""),
        (_notes(finding, ids=False, condition=condition), ""),
        (_notes(finding, ids=False), condition),
    ]
    for notes, leftover in choices:
        if not notes:
            return [*lines, [blank, (" " * start, ""), carets]], leftover
        if room is None or end + 3 + len(notes) <= room:
            return [*lines, [blank, (" " * start, ""), carets, ("   " + notes, "dim")]], leftover
        if len(notes) + 3 <= start:  # no room behind the carets, but in front of them
            return [*lines, [blank, (notes.rjust(start - 3) + "   ", "dim"), carets]], leftover
    return [*lines, [blank, (" " * start, ""), carets]], _notes(finding, ids=False, condition=condition)


def _notes(finding: Finding, ids: bool, condition: str = "") -> str:
    """Evidence and cost, in a few words; with Dynamo's ids where there is room for them."""
    notes = []
    if finding.evidence != "predicted":
        notes.append(" ".join((finding.evidence, *(_ids(finding) if ids else ()))))
    elif finding.confidence != "certain":
        notes.append(finding.confidence)
    if finding.count:
        notes.append(count(finding.count, "event"))
    notes += _costs(finding.cost)
    if condition:
        notes.append(condition)
    return ", ".join(notes)


def _ids(finding: Finding) -> tuple[str, ...]:
    """GB ids of a break; of a recompile the families of guards, in words."""
    if finding.kind != "recompile":
        return finding.dynamo
    return (f"({', '.join(family.replace('_', ' ') for family in finding.dynamo)})",) if finding.dynamo else ()


def _costs(cost: Cost | None) -> list[str]:
    if cost is None:
        return []
    parts = []
    if cost.step_seconds is not None:
        parts.append(per_step(cost))
    if cost.compile_seconds is not None:
        parts.append(f"{duration(cost.compile_seconds)} to compile")
    return parts


def _advice(finding: Finding) -> str:
    safety = f"[{finding.fix.safety} fix]" if finding.fix else ""
    return "  ".join(part for part in (finding.help, safety) if part)


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _lost(finding: Finding) -> str:
    if not finding.lost or finding.lost == "recompile limit":  # which its message tells
        return ""
    return f"{LOST_BY.get(finding.lost, finding.lost).removeprefix('a ')}: all of `{finding.lost_function or finding.function or 'the frame'}` runs eager"


def _behind(finding: Finding) -> str:
    """Which break must go before this one is met: the last that was neutralised, and how many before it."""
    if not finding.behind:
        return ""
    last, others = finding.behind[-1], len(finding.behind) - 1
    place = f"line {last.line}" if last.path == finding.path else f"{last.path}:{last.line}"
    return f"hidden behind the break at {place}" + (f" and {count(others, 'other')}" if others else "")


def _guard(finding: Finding) -> str:
    if not finding.guard or finding.guard in finding.message:
        return ""
    told = [value for value in finding.values if value not in finding.guard]
    shown = (*finding.values[:MOST_VALUES], *(("...",) if len(finding.values) > MOST_VALUES else ()))
    seen = f" (values: {', '.join(shown)})" if told and len(finding.values) > 1 else ""
    return f"guard: {' '.join(finding.guard.split())}{seen}"


def _chain(finding: Finding) -> str:
    links = [_link(link, finding.path) for link in finding.chain]
    return f"reached from {' -> '.join(links)}" if links else ""


def _short_chain(finding: Finding) -> str:
    """The chain with its first and last step only."""
    if len(finding.chain) < 3:
        return _chain(finding)
    first, last = finding.chain[0], finding.chain[-1]
    return f"reached from {_link(first, finding.path)} -> ... -> {_link(last, finding.path)}"


def _link(link: Link, path: str) -> str:
    return f"{link.function}:{link.line}" if link.path == path else f"{link.function} ({link.path}:{link.line})"


def equal_lines(text: str, width: int | None) -> list[Line]:
    if not text:
        return []
    room = None if width is None else max(width - 5, 20)
    first, *rest = wrap(text, room, room)
    return [[("   = ", "cyan"), (first, "")], *([("     " + line, "")] for line in rest)]
