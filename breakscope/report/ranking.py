"""The order in which people read findings: what costs most comes first."""

from __future__ import annotations

from collections.abc import Iterable

from breakscope.report.model import SEEN, Finding


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """What raises; by cost of a step; what stands behind others after them; frames that a run saw skipped; cost
    of compiling; place."""
    return sorted(findings, key=_rank)


def _rank(finding: Finding) -> tuple:
    cost = finding.cost
    step = (cost.step_seconds or 0.0) if cost else 0.0
    compiling = (cost.compile_seconds or 0.0) if cost else 0.0
    skips = bool(finding.lost) and finding.evidence in SEEN
    return (
        finding.kind != "error",
        -step,
        bool(finding.behind),
        not skips,
        -compiling,
        finding.evidence == "refuted",
        *finding.place(),
    )
