"""Several reports as one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from breakscope.report.model import Cost, Elsewhere, Finding, Gap, Report, ReportError, Run
from breakscope.report.run_modes import ModuleCalls

NOT_COMPARED = "the ranks of one saved report are not compared with those of another; `breakscope report` on the trace folders does"


def merge(reports: Sequence[Report]) -> Report:
    """Reports of different places: findings and errors together, each once; numbers are added up.

    Runs of traced programs become one; of other runs the first is kept: `Report` has room for one.
    """
    first, *others = reports
    if not others:
        return first
    runs = [r.run for r in reports if r.run is not None]
    traced = len({run.processes for run in runs}) == len(runs) and all(
        run.processes for run in runs
    )
    return msgspec.structs.replace(
        first,
        findings=_findings(reports, add=traced),
        errors=_errors(reports),
        gaps=_gaps(reports),
        files=sum(r.files for r in reports),
        regions=sum(r.regions for r in reports),
        run=_together(runs) if traced and len(runs) > 1 else runs[0] if runs else None,
        missed=sum(r.missed for r in reports),
        refuted=sum(r.refuted for r in reports),
        hidden=sum(r.hidden for r in reports),
        elsewhere=_elsewhere(reports),
    )


def together(report: Report, part: Report) -> Report:
    """A report and a second look at a part of the same places: what the second look adds, without
    counting twice."""
    return msgspec.structs.replace(
        report,
        findings=_findings((report, part)),
        errors=_errors((report, part)),
        gaps=_gaps((report, part)),
        files=max(report.files, part.files),
        regions=max(report.regions, part.regions),
    )


def _together(runs: Sequence[Run]) -> Run:
    """The runs of one program on several nodes, saved one by one, as one run."""
    codes = [run.exit_code for run in runs if run.exit_code is not None]
    return msgspec.structs.replace(
        runs[0],
        target=", ".join(dict.fromkeys(run.target for run in runs)),
        status=next((run.status for run in runs if run.status != "ok"), "ok"),
        graphs=tuple(graph for run in runs for graph in run.graphs),
        recompiles=tuple(recompile for run in runs for recompile in run.recompiles),
        lost_frames=tuple(dict.fromkeys(frame for run in runs for frame in run.lost_frames)),
        restarts=tuple(restart for run in runs for restart in run.restarts),
        compile_seconds=round(sum(run.compile_seconds for run in runs), 6),
        processes=tuple(process for run in runs for process in run.processes),
        modules=_modules(runs),
        divergence=next((run.divergence for run in runs if run.divergence is not None), None),
        exit_code=max(codes) if codes else None,
        notes=(*dict.fromkeys(note for run in runs for note in run.notes), NOT_COMPARED),
    )


def _modules(runs: Sequence[Run]) -> tuple[ModuleCalls, ...] | None:
    """What --compile captured in all runs together."""
    together: dict[str, ModuleCalls] = {}
    for module in (module for run in runs for module in run.modules or ()):
        known = together.get(module.name)
        together[module.name] = module if known is None else _added(known, module)
    return None if all(run.modules is None for run in runs) else tuple(together.values())


def _added(one: ModuleCalls, other: ModuleCalls) -> ModuleCalls:
    return msgspec.structs.replace(
        one,
        calls=one.calls + other.calls,
        graphs=one.graphs + other.graphs,
        breaks=max(one.breaks, other.breaks),
        recompiles=one.recompiles + other.recompiles,
        eager=tuple(dict.fromkeys((*one.eager, *other.eager))),
    )


def _findings(reports: Sequence[Report], add: bool = False) -> tuple[Finding, ...]:
    """Findings by place; the surer one where reports differ in nothing else. `add`: their events
    are different ones."""
    best: dict[tuple, Finding] = {}
    for finding in (f for report in reports for f in report.findings):
        same = (finding.path, finding.line, finding.column, finding.code)
        known = best.get(same)
        if known is None or _sureness(finding) > _sureness(known):
            best[same] = finding
        if add and known is not None:
            best[same] = msgspec.structs.replace(
                best[same], count=known.count + finding.count, cost=_sum(known.cost, finding.cost)
            )
    return tuple(sorted(best.values(), key=Finding.place))


def _sum(one: Cost | None, other: Cost | None) -> Cost | None:
    if one is None or other is None:
        return one or other
    seconds = [cost.compile_seconds for cost in (one, other) if cost.compile_seconds is not None]
    return msgspec.structs.replace(one, compile_seconds=sum(seconds) if seconds else None)


def _sureness(finding: Finding) -> tuple[int, int]:
    return (
        ("predicted", "refuted", "observed", "confirmed").index(finding.evidence),
        ("possible", "likely", "certain").index(finding.confidence),
    )


def _elsewhere(reports: Sequence[Report]) -> tuple[Elsewhere, ...]:
    """What none of the reports shows; each file once, with what most was seen in it."""
    shown = {finding.path for report in reports for finding in report.findings}
    most: dict[str, Elsewhere] = {}
    for at in (at for report in reports for at in report.elsewhere if at.path not in shown):
        most[at.path] = max(most.get(at.path, at), at, key=lambda at: at.findings)
    return tuple(sorted(most.values(), key=lambda at: (-at.findings, at.path)))


def _gaps(reports: Sequence[Report]) -> tuple[Gap, ...]:
    return tuple(dict.fromkeys(gap for report in reports for gap in report.gaps))


def _errors(reports: Sequence[Report]) -> tuple[ReportError, ...]:
    return tuple(dict.fromkeys(error for report in reports for error in report.errors))
