"""run_target: start the child process, read what it left, report what happened."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from breakscope.dynamic.bench.saving import cost_of_breaks, with_step_cost
from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.findings.fake_facts import fake_facts
from breakscope.dynamic.findings.hints import named_switches
from breakscope.dynamic.findings.host_syncs import with_host_syncs
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.findings.report_facts import shown, shown_recompiles
from breakscope.dynamic.findings.restarts import shown_restarts
from breakscope.dynamic.findings.run_errors import (
    describe_errors,
    refuse_wrong_target,
    status_of,
    unwritten,
)
from breakscope.dynamic.observations.explain import compare, fill_graphs
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.host_syncs import read_host_syncs
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_folder
from breakscope.dynamic.options import Neutralised, RunOptions, RunResult
from breakscope.dynamic.trace.progress_log import last_note, read_progress
from breakscope.errors import UserError
from breakscope.report import frames
from breakscope.report.model import HostSync, ReportError, Run
from breakscope.report.summary import count
from breakscope.rulekit.loader import load_rules
from breakscope.texts import missing_file

UNCHECKED = "the capture lacks the break of its self-test, so it is incomplete"


def run_target(
    options: RunOptions, seen_by: Callable[[Observations], object] | None = None
) -> RunResult:
    """Run a model under Dynamo in a child process and return what it saw.

    Raises UserError when the file does not exist, torch is not installed, or the target or an
    option is none that can be run. Whatever the user's code does is reported in `errors`, beside
    all that was captured before. `seen_by` receives what was observed, before it is put into words.
    """
    refuse_what_cannot_run(options)
    with run_folder() as folder:
        ended = run_child(folder, options)
        notes = read_progress(folder / "progress.jsonl")
        refuse_wrong_target(notes)
        # only the measuring of steps was cut off
        if any(note["event"] == "done" for note in notes):
            ended = replace(ended, timed_out=False)
        versions = last_note(notes, "versions")
        places = Places.here(versions.get("torch_root", ""))
        seen = read_folder(folder, places)
        seen = replace(seen, calls=last_note(notes, "captured").get("calls", 0))
        errors = describe_errors(folder, options, notes, ended, places)
        if seen_by is not None:
            seen_by(seen)
        rules = tuple(load_rules(options.rules))
        findings, fake = make_findings(seen, rules, Path.cwd()), None
        if options.fake is not None:
            findings, fake = fake_facts(
                options.fake,
                (options.file, options.name),
                notes,
                places,
                partial(read_folder, folder, places),
                findings,
                rules,
            )
    planted = sum(note["event"] == "self-test" for note in notes)
    checked = planted > 0 and seen.self_tests >= planted
    if not errors and not checked:
        errors = (ReportError(message=f"{options.target}: {UNCHECKED}"),)
    status = status_of(notes, ended, errors, seen)
    run = _describe_run(options, notes, seen, status, places, checked)
    if fake is not None:  # its seconds are not those of a real one
        run = msgspec.structs.replace(run, fake=fake, compile_seconds=0.0, restarts=())
    # what a capture that is not whole lacks may be the break of a line that was traced
    whole = checked and bool(last_note(notes, "captured")) and not unwritten(notes, ended)
    findings = with_step_cost(findings, run.breaks_cost)
    findings = with_host_syncs(findings, run.host_syncs or ())
    return RunResult(
        findings=findings,
        run=run,
        errors=errors,
        traced=seen.traced if whole else {},
        torch_version=versions.get("torch", ""),
        neutralised=_neutralised(notes),
        differs=last_note(notes, "compared").get("differs", ""),
        switches=seen.switches,
        named_switches=named_switches(seen.breaks),
    )


def refuse_what_cannot_run(options: RunOptions) -> None:
    """Raise UserError when the file does not exist or torch is not installed."""
    if not Path(options.file).is_file():
        raise UserError(
            missing_file(options.file)
            if not Path(options.file).exists()
            else f"{options.file} is a folder; name a file: {options.file}/FILE.py::NAME"
        )
    if importlib.util.find_spec("torch") is None:
        raise UserError("running a model needs torch: install it with `pip install torch`")


def _describe_run(
    options: RunOptions,
    notes: list[dict],
    seen: Observations,
    status: str,
    places: Places,
    checked: bool,
) -> Run:
    versions, captured, explained = (
        last_note(notes, "versions"),
        last_note(notes, "captured"),
        last_note(notes, "explained"),
    )
    calls = captured.get("calls", sum(note["event"] in ("call", "varied") for note in notes))
    return Run(
        target=options.target,
        status=status,
        device=captured.get("device") or options.device or "",
        backend=options.backend,
        torch_version=versions.get("torch", ""),
        python_version=versions.get("python", ""),
        calls=calls,
        backward=bool(
            captured.get("backward") or any(note["event"] == "backward" for note in notes)
        ),
        graphs=tuple(shown(graph) for graph in fill_graphs(seen.graphs, explained)),
        recompiles=shown_recompiles(seen),
        lost_frames=tuple(shown(frame) for frame in seen.skipped_frames),
        restarts=shown_restarts(seen.compiles),
        cuda_graphs=tuple(shown(found) for found in seen.cuda_graphs),
        compile_seconds=round(seen.compile_seconds, 6),
        share_compiled=_share(notes),
        host_syncs=_host_syncs(notes, places),
        breaks_cost=cost_of_breaks(last_note(notes, "steps").get("rounds", ())),
        capture_checked=checked,
        notes=(
            *(note["text"] for note in notes if note["event"] == "note"),
            *_further(notes, seen),
            *_empty(options, seen, status),
            *compare(seen, explained),
        ),
    )


def _neutralised(notes: list[dict]) -> tuple[Neutralised, ...]:
    problems = {note["number"]: note["problem"] for note in notes if note["event"] == "not neutral"}
    ways = {note["number"]: note["way"] for note in notes if note["event"] == "neutralised"}
    return tuple(
        Neutralised(number=n, way=way, problem=problems.get(n, ""))
        for n, way in sorted(ways.items())
    )


def _host_syncs(notes: list[dict], places: Places) -> tuple[HostSync, ...] | None:
    noted = last_note(notes, "host syncs")
    return read_host_syncs(noted["syncs"], places) if noted else None


def _share(notes: list[dict]) -> float | None:
    share = last_note(notes, "coverage").get("share")
    return None if share is None else round(share, 4)


def _further(notes: list[dict], seen: Observations) -> tuple[str, ...]:
    """What the share of op time compiled is the share of, where that is not what the calls of the
    run did."""
    coverage = last_note(notes, "coverage")
    further = coverage.get("further")
    if not further:
        return ()
    calls = f"{count(further, 'further call')} with the same arguments compiled again"
    limited = dict.fromkeys(
        frame.function for frame in seen.skipped_frames if frame.why == "recompile limit"
    )
    if limited:
        names = " and ".join(f"`{name}`" for name in limited)
        verb = "was" if len(limited) == 1 else "were"
        calls += f", until {names} {verb} {frames.REST}, at the recompile limit"
    if coverage.get("share") is not None:
        calls += "; the share of op time compiled is that of the calls after them"
    return (calls,)


def _empty(options: RunOptions, seen: Observations, status: str) -> tuple[str, ...]:
    """A note on a run that compiled nothing, and that no break or skipped frame explains."""
    if status != "ok" or seen.graphs or seen.breaks or seen.skipped_frames:
        return ()
    return (
        f"Dynamo captured no graph of {options.target}: it does no tensor work, or it is not compiled at all",
    )
