"""One finding for what a reader sees as one problem: the same on a line several times, or a call that
enters a library in which several places break."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from breakscope.report.model import CONFIDENCES, SEEN, Cost, Finding, Link


def grouped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings by place. Of several predictions of one problem the surest stays, and says what
    the others are; breaks that a run saw at one place, and that say the same, are one with all their
    events."""
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_problem(finding), []).append(finding)
    return tuple(sorted(map(_one, groups.values()), key=Finding.place))


def _problem(finding: Finding) -> tuple:
    if finding.evidence in SEEN and finding.kind == "break":
        return (*finding.place(), finding.end_line, finding.end_column, finding.message)
    if finding.evidence != "predicted":
        return (finding,)
    where = (finding.path, finding.line, finding.kind)
    if finding.inside is not None:
        return (*where, finding.column, finding.end_line, finding.end_column, finding.library)
    return (*where, finding.code)


def _one(group: list[Finding]) -> Finding:
    first, *others = sorted(group, key=_sureness)
    if not others:
        return first
    if first.evidence in SEEN:
        return _seen_together([first, *others])
    texts = (*first.also, *map(_said, others))
    ids = dict.fromkeys(word for finding in (first, *others) for word in finding.dynamo)
    return replace(
        first,
        also=texts,
        dynamo=tuple(ids),
        fix=first.fix or next((other.fix for other in others if other.fix), None),
    )


def _seen_together(group: list[Finding]) -> Finding:
    """What was compiled behind the place is the same for all of them, so the seconds are not added
    up."""
    first = min(group, key=lambda f: (f.evidence != "confirmed", not f.lost))
    known = [f.cost.compile_seconds for f in group if f.cost and f.cost.compile_seconds]
    cost = first.cost or next((f.cost for f in group if f.cost), None)
    return replace(
        first,
        dynamo=tuple(dict.fromkeys(word for finding in group for word in finding.dynamo)),
        cost=replace(cost or Cost(), compile_seconds=max(known)) if known else cost,
        count=sum(finding.count for finding in group),
    )


def _sureness(finding: Finding) -> tuple:
    return (
        CONFIDENCES.index(finding.confidence),
        bool(finding.condition),
        finding.place(),
        finding.end_line,
        finding.end_column,
        len(finding.chain),
        finding.message,
        _place_inside(finding),
    )


def _said(finding: Finding) -> str:
    """What a finding that has no room of its own says: the problem, and where in the library it
    is."""
    if finding.inside is None:
        return finding.brief or finding.message
    path, line = _place_inside(finding)
    return f"{finding.inside.brief or finding.inside.message} ({path}:{line})"


def _place_inside(finding: Finding) -> tuple[str, int]:
    links: tuple[Link, ...] = finding.inside.chain if finding.inside else ()
    return (links[-1].path, links[-1].line) if links else ("", 0)
