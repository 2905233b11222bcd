"""What changed between two reports: findings that went, came or moved, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from breakscope.report.combining.identity import identity, same
from breakscope.report.comparing.budget import Budget
from breakscope.report.comparing.judging import breaks, coverage
from breakscope.report.fact import Fact, Link
from breakscope.report.model import SEEN, Finding, Report, ReportError
from breakscope.report.ranking import ranked

DIFFERENCE_SCHEMA_VERSION = "1"

Unit = Literal["", "seconds", "percent"]


class Moved(Fact):
    """A finding that stays, at another line, in another function or in another file: `finding` is
    it as it is now."""

    before: Link
    finding: Finding


class Figure(Fact):
    """A number before and after, None where a report does not hold it."""

    name: str
    unit: Unit
    before: float | None
    after: float | None


class Difference(Fact):
    """All that changed between two reports; `budgets` and `errors` are those of the later one."""

    before: str  # names of the reports
    after: str
    gone: tuple[Finding, ...] = ()
    new: tuple[Finding, ...] = ()
    moved: tuple[Moved, ...] = ()
    unchanged: int = 0
    figures: tuple[Figure, ...] = ()
    budgets: tuple[Budget, ...] = ()
    errors: tuple[ReportError, ...] = ()
    notes: tuple[str, ...] = ()
    schema: str = DIFFERENCE_SCHEMA_VERSION


def difference(before: Report, after: Report, names: tuple[str, str]) -> Difference:
    """The later report against the earlier one. A finding that only stands elsewhere has moved."""
    old, new = _shown(before), _shown(after)
    pairs = same([identity(f) for f in old], [identity(f) for f in new])
    stayed_old, stayed_new = {i for i, _ in pairs}, {j for _, j in pairs}
    moved = [(old[i], new[j]) for i, j in pairs if _stands(old[i]) != _stands(new[j])]
    return Difference(
        before=names[0],
        after=names[1],
        gone=tuple(ranked(f for i, f in enumerate(old) if i not in stayed_old)),
        new=tuple(ranked(f for j, f in enumerate(new) if j not in stayed_new)),
        moved=tuple(Moved(before=_stands(was), finding=now) for was, now in moved),
        unchanged=len(pairs) - len(moved),
        figures=_figures(before, after),
        budgets=after.budgets,
        errors=after.errors,
        notes=tuple(_notes(before, after)),
    )


def _shown(report: Report) -> list[Finding]:
    return sorted((f for f in report.findings if f.evidence != "refuted"), key=Finding.place)


def _stands(finding: Finding) -> Link:
    return Link(path=finding.path, line=finding.line, function=finding.function)


def _figures(before: Report, after: Report) -> tuple[Figure, ...]:
    """What both reports can say in numbers; what is zero in both, or known of neither, is left out."""
    rows: Sequence[tuple[str, Unit, float | None, float | None]] = [
        (name, unit, of(before), of(after)) for name, unit, of in NUMBERS
    ]
    return tuple(
        Figure(name=name, unit=unit, before=was, after=now)
        for name, unit, was, now in rows
        if was or now
    )


def _events(report: Report) -> int | None:
    seen = [f.count for f in report.findings if f.kind == "break" and f.evidence in SEEN]
    return sum(seen) if report.run is not None else None


def _of_run(name: str):
    def length(report: Report) -> int | None:
        return len(getattr(report.run, name)) if report.run is not None else None

    return length


def _coverage(report: Report) -> float | None:
    known = coverage(report.run) if report.run is not None else None
    return round(known[0], 2) if known else None


def _compiling(report: Report) -> float | None:
    return report.run.compile_seconds if report.run is not None else None


def _step(report: Report) -> float | None:
    cost = report.run.breaks_cost if report.run is not None else None
    return cost.step_seconds if cost is not None else None


NUMBERS = (
    ("breaks", "", breaks),
    ("break events", "", _events),
    ("recompiles", "", _of_run("recompiles")),
    ("skipped frames", "", _of_run("lost_frames")),
    ("graphs", "", _of_run("graphs")),
    ("compiled", "percent", _coverage),
    ("compiling", "seconds", _compiling),
    ("breaks cost per step", "seconds", _step),
    ("errors", "", lambda report: len(report.errors)),
)


def _notes(before: Report, after: Report):
    """What makes the two reports less comparable."""
    if (before.run is None) != (after.run is None):
        which = "earlier" if before.run is None else "later"
        yield f"the {which} report holds no run, so what only a run can show is missing in it"
    if before.torch != after.torch:
        yield f"torch {before.torch or 'unknown'} before, {after.torch or 'unknown'} after"
    if before.run is None or after.run is None:
        return
    for name in ("target", "device", "backend", "calls", "status"):
        was, now = getattr(before.run, name), getattr(after.run, name)
        if was != now:
            yield f"{name} before: {was}, after: {now}"
    of_what = [known[1] for run in (before.run, after.run) if (known := coverage(run))]
    if len(set(of_what)) > 1:
        yield f"compiled is the share of {of_what[0]} before, of {of_what[1]} after"
