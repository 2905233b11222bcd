"""One finding for one cause: recompiles for the same guard in many functions, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from breakscope.report.model import SEEN, Cost, Finding, Link, code_in, in_order
from breakscope.report.ranking import ranked

NUMBER = re.compile(r"\b(?:\d[\d.]*|True|False|None)\b")
# of a function that takes all its arguments as one: what it calls has them by name
WRAPPED = re.compile(r"tensor '(?:args|kwargs)\[.*' (?P<change>size mismatch .*)$")
SUBMODULE = re.compile(r"\._modules\['[^']*'\]")


def one_for_each_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, recompiles for one cause in several places as one: the costliest, with the
    others' places, counts and seconds."""
    every = ranked(findings)
    named = {f.guard.partition("' ")[2]: f for f in every if not WRAPPED.match(f.guard)}
    groups: dict[object, list[Finding]] = {}
    for finding in every:
        wrapped = WRAPPED.match(finding.guard)
        same = named.get(wrapped["change"]) if wrapped else None
        is_same = same is not None and (same.code, same.evidence) == (
            finding.code,
            finding.evidence,
        )
        groups.setdefault(_cause(same if is_same else finding), []).append(finding)
    joined = (_together(sorted(group, key=_is_wrapper)) for group in groups.values())
    return tuple(sorted(joined, key=Finding.place))


def _is_wrapper(finding: Finding) -> bool:
    return bool(WRAPPED.match(finding.guard))


def _cause(finding: Finding) -> object:
    if finding.kind != "recompile" or finding.evidence not in SEEN:
        return id(finding)
    if not finding.guard:
        return (finding.code, finding.lost, finding.evidence) if finding.lost else id(finding)
    guard = NUMBER.sub("#", SUBMODULE.sub("", finding.guard))
    return (finding.code, finding.dynamo, finding.evidence, guard, finding.help)


def _together(group: list[Finding]) -> Finding:
    first, *others = group
    if not others:
        return first
    seconds = [f.cost.compile_seconds for f in group if f.cost and f.cost.compile_seconds]
    places = tuple(Link(path=f.path, line=f.line, function=f.function) for f in others)
    functions = len(
        {(link.path, link.function) for link in places} - {(first.path, first.function)}
    )
    more = (
        f"{functions} more function{'s' if functions > 1 else ''}"
        if functions
        else f"{len(places)} more line{'s' if len(places) > 1 else ''}"
    )
    message = f"{first.message} (and so for {more})"
    return msgspec.structs.replace(
        first,
        message=message,
        names=code_in(message),
        count=sum(f.count for f in group),
        values=in_order(dict.fromkeys(value for f in group for value in f.values)),
        places=(*first.places, *(place for f in others for place in f.places), *places),
        cost=msgspec.structs.replace(first.cost or Cost(), compile_seconds=sum(seconds))
        if seconds
        else first.cost,
    )
