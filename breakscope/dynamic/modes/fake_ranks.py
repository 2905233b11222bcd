"""Several fake ranks: each is a run of its own, and they are compared as those of a real program.

The first rank is the run that is reported. Ranks differ by what they ask their number for, mostly
"am I the first" and "am I the last", so the second and the last are run besides, without the parts
that need no second run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.findings.report_facts import shown_divergence
from breakscope.dynamic.findings.run_errors import describe_errors
from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.observations.distributed import Seen, divergence
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_folder
from breakscope.dynamic.options import RunOptions, RunResult
from breakscope.dynamic.trace.processes import Process as Traced
from breakscope.dynamic.trace.progress_log import read_progress, torch_root
from breakscope.report.model import Finding, ReportError
from breakscope.report.run_modes import Process
from breakscope.rulekit.loader import load_rules


def run_ranks(options: RunOptions) -> RunResult:
    """The first rank's result, with what only other ranks showed, and where they diverge."""
    size = options.fake.world_size
    kept: list[Seen] = []
    first = run_target(options, seen_by=lambda seen: kept.append((Traced(0, 0), seen)))
    if first.run.status != "ok":
        return first
    found, errors = list(first.findings), list(first.errors)
    for rank in sorted({1, size - 1}):
        part, more, problems = _one(options, rank)
        kept.append(part)
        known = {(f.path, f.line, f.dynamo) for f in found}
        found += [f for f in more if (f.path, f.line, f.dynamo) not in known]
        errors += [
            msgspec.structs.replace(problem, message=f"rank {rank}: {problem.message}")
            for problem in problems
        ]
    run = msgspec.structs.replace(
        first.run,
        processes=tuple(_process(part) for part in kept),
        divergence=shown_divergence(divergence(kept)),
        notes=(*first.run.notes, *_not_run(size, kept)),
    )
    return replace(
        first, findings=tuple(sorted(found, key=Finding.place)), errors=tuple(errors), run=run
    )


def _one(options: RunOptions, rank: int) -> tuple[Seen, list[Finding], Sequence[ReportError]]:
    """What one more rank saw."""
    fake = replace(options.fake, rank=rank, explore=0, export=False)
    of_rank = replace(options, fake=fake, phase=f"rank {rank}")
    with run_folder() as folder:
        ended = run_child(folder, of_rank)
        notes = read_progress(folder / "progress.jsonl")
        places = Places.here(torch_root(notes))
        seen = read_folder(folder, places)
        errors = describe_errors(folder, of_rank, notes, ended, places)
    found = [
        msgspec.structs.replace(finding, cost=None)
        for finding in make_findings(seen, tuple(load_rules(options.rules)), Path.cwd())
    ]
    return (Traced(rank, rank), seen), found, errors


def _process(part: Seen) -> Process:
    process, seen = part
    return Process(
        pid=0,
        rank=process.rank,
        compiles=len(seen.compiles),
        breaks=len(seen.breaks),
        recompiles=len(seen.recompiles),
        compile_seconds=0.0,
    )


def _not_run(size: int, kept: Sequence[Seen]) -> tuple[str, ...]:
    if len(kept) == size:
        return ()
    ranks = ", ".join(str(process.rank) for process, _ in kept)
    return (f"of {size} fake ranks {ranks} ran; the others are taken to do as these",)
