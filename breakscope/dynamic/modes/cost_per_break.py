"""What each of several breaks costs per step: what a step saves when that one alone is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from breakscope import limits
from breakscope.dynamic.bench.saving import saved
from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.options import Neutral, RunOptions, RunResult
from breakscope.dynamic.trace.progress_log import read_progress
from breakscope.report.bench import Saving
from breakscope.report.model import Cost, Finding

MEANING = (
    "a break's cost per step is what the step saves when that one alone is gone; where its function is still skipped "
    "as a whole because of another break, that is little or nothing"
)
Place = tuple[Finding, Neutral]


def with_cost_per_break(options: RunOptions, ran: RunResult, places: Sequence[Place]) -> RunResult:
    """The result with the step cost of each break, as far as it is larger than the noise.

    Only with a backend that makes code, where the step has several breaks and one set of arguments;
    `places` are breaks of the run and the ways in which they could be neutralised.
    """
    if (
        options.backend == "eager"
        or options.calls
        or options.drive
        or ran.run.status != "ok"
        or len(places) < 2
    ):
        return ran
    chosen = sorted(places, key=lambda place: -place[0].count)[: limits.MOST_COST_FORMS]
    with run_folder() as folder:
        run_child(
            folder,
            replace(
                options,
                neutralise=tuple(neutral for _, neutral in chosen),
                phase="what each break costs",
            ),
            work="each break",
        )
        notes = read_progress(folder / "progress.jsonl")
    costs, unmeasured = _costs(notes, [finding for finding, _ in chosen])
    findings = tuple(_with_cost(finding, costs.get(finding.place())) for finding in ran.findings)
    added = (*((MEANING,) if costs else ()), *unmeasured)
    return replace(
        ran, findings=findings, run=msgspec.structs.replace(ran.run, notes=(*ran.run.notes, *added))
    )


def _costs(
    notes: Sequence[dict], breaks: Sequence[Finding]
) -> tuple[dict[tuple, Cost], tuple[str, ...]]:
    """The costs by place, and notes on those that have none."""
    steps = next(
        (note for note in notes if note["event"] == "steps"), {"numbers": [], "rounds": []}
    )
    why = {
        note["number"]: note["problem"]
        for note in notes
        if note["event"] == "form" and note["problem"]
    }
    failed = next((note["message"] for note in notes if note["event"] == "error"), "time ran out")
    costs: dict[tuple, Cost] = {}
    for number, finding in enumerate(breaks):
        if number not in steps["numbers"]:
            why.setdefault(number, failed)
            continue
        found = saved(
            Saving(mode="", sites=()), steps["rounds"], steps["numbers"].index(number) + 1
        )
        if found.seconds is None:
            why[number] = found.problem
        else:
            costs[finding.place()] = Cost(step_seconds=found.seconds, step_interval=found.interval)
    reasons: dict[str, list[str]] = {}
    for number, problem in sorted(why.items()):
        reasons.setdefault(" ".join(problem.split()), []).append(
            f"{breaks[number].path}:{breaks[number].line}"
        )
    return costs, tuple(
        f"what it costs per step alone was not measured for {', '.join(places)}: {problem}"
        for problem, places in reasons.items()
    )


def _with_cost(finding: Finding, cost: Cost | None) -> Finding:
    if cost is None or finding.kind != "break":
        return finding
    compiling = finding.cost.compile_seconds if finding.cost else None
    return msgspec.structs.replace(
        finding, cost=msgspec.structs.replace(cost, compile_seconds=compiling)
    )
