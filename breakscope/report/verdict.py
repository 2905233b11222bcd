"""What to do first: the worst finding of a run, what it costs, and its advice, in two lines."""

from __future__ import annotations

from breakscope import limits
from breakscope.report.model import SEEN, Finding, Report
from breakscope.report.ranking import ranked
from breakscope.report.summary import count, duration, per_step


def verdict(report: Report) -> list[str]:
    """The two lines above the summary; none where a reader has but one finding to look at."""
    seen = [f for f in ranked(report.findings) if f.evidence in SEEN]
    if report.run is None or len(seen) < 2:
        return []
    worst = seen[0]
    where = f"{_in_short(worst.path)}:{worst.line}"
    costs = _costs(worst, report)
    what = worst.brief or worst.message
    cause = _behind_limit(worst, seen)
    first = f"{_in_short(cause.path)}:{cause.line}: {cause.help}" if cause else worst.help
    return [
        f"worst: {where} ({costs}): {what}" if costs else f"worst: {where}: {what}",
        f"first: {first}",
    ]


def _in_short(path: str) -> str:
    """A path that leaves room for the cause on a terminal's line: of a long one the file and its
    folder, since the whole stands at the finding."""
    parts = path.split("/")
    is_long = len(path) > limits.USUAL_WIDTH // 3 and len(parts) > 3
    return "/".join(("...", *parts[-2:])) if is_long else path


def _behind_limit(worst: Finding, seen: list[Finding]) -> Finding | None:
    """What a function that reached its recompile limit was compiled again for most often: that is
    what can be changed."""
    same = [
        f
        for f in seen
        if f.kind == "recompile"
        and f.lost != worst.lost
        and (f.path, f.function) == (worst.path, worst.function)
    ]
    return (
        max(same, key=lambda f: f.count, default=None) if worst.lost == "recompile limit" else None
    )


def _costs(finding: Finding, report: Report) -> str:
    """Per step where that was measured, else the share of all compiling that it took."""
    cost, whole = finding.cost, report.run.compile_seconds if report.run else 0.0
    if cost is not None and cost.step_seconds is not None:
        return per_step(cost)
    if cost is None or not cost.compile_seconds:
        return count(finding.count, "event") if finding.count else ""
    share = f", {min(cost.compile_seconds / whole, 1.0):.0%} of all" if whole else ""
    return f"{duration(cost.compile_seconds)} of compiling{share}"
