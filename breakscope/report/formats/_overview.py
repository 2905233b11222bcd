"""Many findings in few lines: equal ones as one block, and a table of counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from breakscope import limits
from breakscope.report.combining.causes import kind_of
from breakscope.report.formats._layout import Line, fact_lines
from breakscope.report.model import Finding
from breakscope.report.summary import count


def blocks(findings: Iterable[Finding], is_grouped: bool) -> list[tuple[Finding, ...]]:
    """The findings in their order, equal ones with the first of them: those in one function, or
    enough of them in the file; each alone unless `is_grouped`."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        is_alone = finding.evidence != "predicted" or finding.cost is not None
        key = number if is_alone or not is_grouped else kind_of(finding)
        groups.setdefault(key, []).append(finding)
    found: list[tuple[Finding, ...]] = []
    for group in groups.values():
        is_one_cause = group[0].function and len({finding.function for finding in group}) == 1
        if len(group) < limits.FEWEST_EQUAL_FINDINGS and not is_one_cause:
            found += [(finding,) for finding in group]
        else:
            found.append(tuple(group))
    place = {id(finding): number for number, finding in enumerate(findings)}
    return sorted(found, key=lambda group: place[id(group[0])])


def equal_places(group: Sequence[Finding], width: int | None) -> list[Line]:
    """The lines of all but the first of a block."""
    if len(group) < 2:
        return []
    sure = group[0].confidence
    lines = [
        f"{finding.line}"
        if finding.confidence == sure
        else f"{finding.line} ({finding.confidence})"
        for finding in group[1:]
    ]
    front = f"lines {', '.join(lines[:-1])} and" if len(lines) > 1 else "line"
    named = f"{front} {lines[-1]}"
    return fact_lines(
        "note", f"{count(len(lines), 'equal finding')} in this file at {named}", width
    )


def statistics(findings: Sequence[Finding]) -> str:
    """A line for each rule: how many findings, how many of them with a fix; most first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.rule), []).append(finding)
    rows = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    width = len(str(len(findings)))
    return "".join(
        f"{len(found):>{width}}  {code}  {name}{_fixable(found)}\n" for (code, name), found in rows
    )


def _fixable(findings: Sequence[Finding]) -> str:
    fixes = [finding.fix.safety for finding in findings if finding.fix]
    safe = fixes.count("safe")
    words = [f"{safe} with a safe fix"] if safe else []
    if len(fixes) > safe:
        words.append(f"{len(fixes) - safe} with an unsafe fix")
    return f"  ({', '.join(words)})" if words else ""
