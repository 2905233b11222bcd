"""Whether a report keeps what was allowed."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.report.comparing.budget import After, Allowed, Budget
from breakscope.report.model import SEEN, Report, ReportError, Run
from breakscope.report.summary import count


class Unknown(Exception):
    """The report does not hold what a budget is about; says why."""


def judged(report: Report, allowed: Allowed) -> Report:
    """The report with its budgets. What it cannot answer is an error where the command line asks for
    it; of a budget of the configuration a note says so."""
    kept: list[Budget] = []
    notes: list[str] = []
    errors: list[ReportError] = []
    for name, judge in (
        ("max-breaks", _breaks),
        ("max-recompiles-after", _recompiles),
        ("min-coverage", _coverage),
    ):
        try:
            budget = judge(report, allowed)
        except Unknown as problem:
            if name in allowed.required:
                errors.append(ReportError(message=f"--{name}: {problem}"))
            else:
                notes.append(f"the budget {name} says nothing here: {problem}")
        else:
            kept += [budget] if budget is not None else []
    return replace(
        report,
        budgets=tuple(kept),
        errors=(*report.errors, *errors),
        notes=(*report.notes, *notes),
    )


def breaks(report: Report) -> int:
    """The places that break: those that a run saw, or, of source alone, those that are predicted."""
    return sum(
        f.kind == "break"
        and (f.evidence in SEEN if report.run is not None else f.evidence == "predicted")
        for f in report.findings
    )


def coverage(run: Run) -> tuple[float, str] | None:
    """The percentage that runs compiled, and of what; None where that is not known. Where ops were
    not timed, as in a trace, it is the share of functions."""
    if run.share_compiled is not None:
        return 100 * run.share_compiled, "op time"
    share = functions_compiled(run)
    return None if share is None else (share, "functions that Dynamo met")


def functions_compiled(run: Run) -> float | None:
    """Of the functions that Dynamo met the percentage without a skipped frame, which hangs on no
    clock; None where it met none."""
    compiled = {(graph.path, graph.function) for graph in run.graphs}
    skipped = {(frame.path, frame.function) for frame in run.lost_frames}
    if not compiled | skipped:
        return None
    return 100 * len(compiled - skipped) / len(compiled | skipped)


def _breaks(report: Report, allowed: Allowed) -> Budget | None:
    if allowed.breaks is None:
        return None
    found = breaks(report)
    return Budget(
        name="max-breaks",
        unit="breaks",
        limit=allowed.breaks,
        found=found,
        kept=found <= allowed.breaks,
        what=f"{count(found, 'break')}, {allowed.breaks} allowed",
    )


def _recompiles(report: Report, allowed: Allowed) -> Budget | None:
    after = allowed.recompiles
    if after is None:
        return None
    found = _after(_run(report), after)
    return Budget(
        name="max-recompiles-after",
        unit="recompiles",
        limit=after.most,
        found=found,
        kept=found <= after.most,
        what=f"{count(found, 'recompile')} after {after}, {after.most} allowed",
    )


def _after(run: Run, after: After) -> int:
    recompiles = [recompile for recompile in run.recompiles if not recompile.varied]
    if not after.step:
        return len(recompiles)
    if after.in_seconds:
        if any(recompile.after_seconds is None for recompile in recompiles):
            raise Unknown("the trace does not say when its recompiles were")
        return sum(recompile.after_seconds > after.step for recompile in recompiles)
    if any(not recompile.call for recompile in recompiles):
        raise Unknown(
            f"a traced program has no calls that could be counted; write seconds, such as {after.step}s"
        )
    return sum(recompile.call > after.step for recompile in recompiles)


def _coverage(report: Report, allowed: Allowed) -> Budget | None:
    if allowed.coverage is None:
        return None
    known = coverage(_run(report))
    if known is None:
        raise Unknown("the share that runs compiled was not measured")
    found, of_what = known
    return Budget(
        name="min-coverage",
        unit="percent",
        limit=allowed.coverage,
        found=round(found, 2),
        kept=found >= allowed.coverage,
        what=f"{found:.0f}% of {of_what} compiled, {allowed.coverage:g}% wanted",
    )


def _run(report: Report) -> Run:
    if report.run is None:
        raise Unknown("the report holds no run")
    return report.run
