"""A program of its own for one finding of a run: as small as it could be made, written to a file, and
run to see that it shows the same."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec

from breakscope.dynamic.capture.child_process import environment, run_child
from breakscope.dynamic.capture.folders import run_folder, writing
from breakscope.dynamic.modes.trace import read_result
from breakscope.dynamic.options import RunOptions, RunResult
from breakscope.dynamic.trace.progress_log import read_progress
from breakscope.errors import UserError
from breakscope.report.model import Finding
from breakscope.report.ranking import ranked
from breakscope.texts import without_numbers

GOT = re.compile(r"got \w+\(['\"].{1,40}")
MARK = "# What `breakscope run --repro` wrote for"
KINDS = ("error", "break", "recompile")


def refuse_file(file: str) -> None:
    """Raise UserError where the program would take the place of a file that is not ours."""
    path = Path(file)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UserError(f"--repro {file}: name a file in a folder that exists")
    if path.exists() and not path.read_text("utf-8", errors="replace").startswith(MARK):
        raise UserError(f"--repro {file}: the file exists, and --repro did not write it")


def with_repro(options: RunOptions, ran: RunResult) -> RunResult:
    """The run's result with a note on the program that was written, or on why there is none."""
    finding = _wanted(ran, options.repro_at)
    if finding is None:
        where = f" at {options.repro_at}" if options.repro_at else ""
        return _with(
            ran, f"the run saw no break, recompile or error{where}, so no program was written"
        )
    with run_folder() as folder:
        run_child(folder, options, work="repro", more={"wanted": _signature(finding)})
        notes = read_progress(folder / "progress.jsonl")
    made = next((note for note in notes if note["event"] == "repro"), None)
    what = f"{finding.code} {', '.join(finding.dynamo)}".strip()
    place = f"{finding.path}:{finding.line}"
    if made is None:
        return _with(
            ran, f"no program alone shows {what} of {place}: it depends on how the run calls it"
        )
    text = f"{MARK} {what} of {place}\n{made['text']}"
    if not _shows(text, finding, options):
        return _with(
            ran, f"the program that was found does not show {what} of {place} when it runs alone"
        )
    Path(options.repro).write_text(text, encoding="utf-8")
    lines, tried = len(text.splitlines()), made["tried"]
    return _with(
        ran,
        f"{options.repro} shows {what} of {place} in {lines} lines ({made['of']} before, {tried} programs tried); "
        "it was run to see that",
    )


def _wanted(ran: RunResult, at: str) -> Finding | None:
    """The worst finding that the run saw, of those at the place where one is named."""
    found = [f for f in ranked(ran.findings) if f.kind in KINDS and f.lost != "recompile limit"]
    if at:
        found = [f for f in found if f"{f.path}:{f.line}".endswith(at)]
    return next(iter(found), None)


def _signature(finding: Finding) -> dict:
    """What a program must show, in words that a smaller program has too."""
    if finding.kind == "recompile":
        text = without_numbers(finding.guard)
    elif finding.kind == "error":
        got = GOT.search(finding.reason)
        text = without_numbers(got[0] if got else finding.reason.partition(": ")[2][:60])
    elif finding.dynamo:
        text = f"/{finding.dynamo[0].lower()}.html"
    else:
        text = finding.reason.partition(":")[0].lower()
    return {"kind": finding.kind, "text": text}


def _shows(text: str, finding: Finding, options: RunOptions) -> bool:
    """Run the program as a user would, and compare ids."""
    with run_folder() as folder:
        file = folder / "program.py"
        with writing(folder):
            (folder / "trace").mkdir()
            file.write_text(text, encoding="utf-8")
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, str(file)],
                env=environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=options.timeout,
                check=False,
            )
        ran = read_result(folder / "trace", ())
    return any((f.kind, f.dynamo) == (finding.kind, finding.dynamo) for f in ran.findings)


def _with(ran: RunResult, text: str) -> RunResult:
    notes = (*ran.run.notes, f"repro: {text}")
    return replace(ran, run=msgspec.structs.replace(ran.run, notes=notes))
