"""One finding for one cause in one function, or in one place of a library that a file enters at
several lines; it names the lines of the others. Formats for people list findings so; the others, and
all that fixes, silences, counts or compares, have each place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from breakscope.report.model import Finding, Link

QUOTED = re.compile(r"`[^`]+`")


def for_each_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order, with the first of those in a function that say the same, but for
    the names in it, the places of the others."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        is_alone = not finding.function or finding.evidence != "predicted" or finding.cost
        # nobody would take a place that is possible for one that is certain
        is_alone = is_alone or finding.confidence == "possible"
        key = number if is_alone else (_where(finding), *kind_of(finding))
        groups.setdefault(key, []).append(finding)
    return tuple(map(_one, groups.values()))


def _where(finding: Finding) -> object:
    if finding.inside is not None and finding.inside.chain:
        return finding.inside.chain[-1]
    return finding.function


def kind_of(finding: Finding) -> tuple:
    """What equal findings have in common: all but the names in their texts, and their places. What
    compiles a function again does so wherever it is set, whatever decides that."""
    return (
        finding.path,
        finding.code,
        finding.lost,
        finding.library,
        finding.condition if finding.kind == "break" else "",
        finding.fix and finding.fix.safety,
        QUOTED.sub("``", finding.message),
        QUOTED.sub("``", finding.help),
    )


def _one(group: list[Finding]) -> Finding:
    first, *others = group
    if not others:
        return first
    places = (
        Link(path=f.path, line=f.line, function=f.function, cell=f.cell)
        for f in others
        if f.line != first.line
    )
    return replace(first, places=(*first.places, *places))
