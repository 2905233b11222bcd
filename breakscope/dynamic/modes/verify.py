"""The original and the rewritten form of a target, each in a process of its own, compared.

The first process records what the original does; the second does the same with the new sources, the
first one's weights and inputs, and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder, writing
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.findings.run_errors import describe_errors
from breakscope.dynamic.modes.run import UNCHECKED, refuse_what_cannot_run
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_folder
from breakscope.dynamic.options import RunOptions
from breakscope.dynamic.trace.progress_log import last_note, read_progress, torch_root
from breakscope.report.fixes import Compared, Measured
from breakscope.report.model import Finding
from breakscope.rulekit.loader import load_rules

SAME = "capture call"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What one form of the target did. `problem` says why it could not be run, "" when it was.

    `lines` are those that ran without torch.compile, by absolute path; `again` counts recompiles of
    calls with the same arguments, `settled` is True when the last of at least three compiled nothing;
    `raised` counts the calls that raise.
    """

    problem: str = ""
    measured: Measured | None = None
    findings: tuple[Finding, ...] = ()
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    again: int = 0
    settled: bool = False
    raised: int = 0
    calls: int = 0
    values: int = 0  # further calls with other values
    compared: tuple[Compared, ...] = ()
    guessed: str = ""  # what was guessed of the arguments, in words


@dataclass(frozen=True)
class Original:
    """The recording of the original, which rewritten forms are compared with."""

    options: RunOptions
    folder: Path
    recorded: Recorded
    guess: bool = False


@contextmanager
def recorded_original(
    options: RunOptions, files: Mapping[str, bytes], guess: bool = False
) -> Iterator[Original]:
    """The target as it is; within, `rewritten` may compare others with it. `files` are those whose
    executed lines are wanted. With `guess` the target is a function or a method alone, whose
    arguments are guessed. Raises UserError when the file does not exist or torch is not
    installed."""
    refuse_what_cannot_run(options)
    with run_folder() as folder:
        with writing(folder):
            (folder / "records").mkdir()
        recorded = _record(options, {}, tuple(files), folder / "records", None, guess)
        yield Original(options, folder / "records", recorded, guess)


def rewritten(original: Original, sources: Mapping[str, bytes]) -> Recorded:
    """What the target does with these sources (by absolute path), compared with the original."""
    with run_folder() as folder:
        with writing(folder):
            (folder / "records").mkdir()
        records, files = folder / "records", tuple(sources)
        return _record(original.options, sources, files, records, original.folder, original.guess)


def _record(
    options: RunOptions,
    sources: Mapping[str, bytes],
    files: tuple[str, ...],
    records: Path,
    reference: Path | None,
    guess: bool,
) -> Recorded:
    with run_folder() as folder:
        given = {}
        with writing(folder):
            for number, (path, data) in enumerate(sources.items()):
                file = folder / f"source_{number}.py"
                file.write_bytes(data)
                given[path] = str(file)
        job = {
            "sources": given,
            "lines": list(files),
            "record": str(records),
            "reference": str(reference) if reference else "",
            "guess": options.name if guess else "",
        }
        ended = run_child(folder, replace(options, explain=False), work="verify", more=job)
        notes = read_progress(folder / "progress.jsonl")
        if any(note["event"] == "done" for note in notes):
            ended = replace(ended, timed_out=False)  # only the timing was cut off
        places = Places.here(torch_root(notes))
        seen = read_folder(folder, places)
        errors = describe_errors(folder, options, notes, ended, places)
    findings = make_findings(seen, load_rules(options.rules), Path.cwd())
    planted = sum(note["event"] == "self-test" for note in notes)
    problem = errors[0].message if errors else ""
    if not problem and not 0 < planted <= seen.self_tests:
        problem = UNCHECKED
    breaks = [finding for finding in findings if finding.kind == "break"]
    times, eager = last_note(notes, "times"), last_note(notes, "eager")
    again = [r.frame.phase for r in seen.recompiles if r.frame.phase.startswith(SAME)]
    calls = eager.get("calls", 0)
    equal = calls if options.calls or options.drive else min(calls, limits.SAME_CALLS)
    return Recorded(
        problem=problem,
        measured=Measured(
            breaks=len(breaks),
            break_events=sum(finding.count for finding in breaks),
            recompiles=len(seen.recompiles),
            skipped_frames=len(seen.skipped_frames),
            graphs=len(seen.graphs),
            eager_seconds=times.get("eager"),
            compiled_seconds=times.get("compiled"),
        ),
        findings=findings,
        lines={
            path: frozenset(run) for path, run in last_note(notes, "lines").get("lines", {}).items()
        },
        again=len(again),
        settled=equal >= limits.SAME_CALLS and f"{SAME} {equal}" not in again,
        raised=eager.get("raised", 0),
        calls=calls,
        values=eager.get("values", 0),
        compared=tuple(
            Compared(what=note["what"], status=note["status"], detail=note["detail"].strip())
            for note in notes
            if note["event"] == "agreement"
        ),
        guessed=last_note(notes, "guessed").get("text", ""),
    )
