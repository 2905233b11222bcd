#!/usr/bin/env python3
"""Measure the dynamic analyzer against a corpus: capture_corpus.py FOLDER TRUTH.json [NAME ...]

FOLDER holds one program per file, each with `make()`, some with `calls()` or `drive(call, model)`.
TRUTH.json maps a program's name to `{"breaks": [{"file", "line", "gb_id"}, ...], ...}`, files
relative to FOLDER. Every program is run by `breakscope run FILE::make --no-vary` (with `--calls
calls` or `--drive drive` where the program defines them), and the sites (file, line) of the
observed breaks are compared with the measured ones.

Printed: the share of measured sites that were found, the share of programs without extra sites, and
every difference. Exit code 1 when either share is below 98 %.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.report.model import Finding, Report, from_json

WANTED = 0.98
Site = tuple[str, int]


@dataclass(frozen=True)
class Outcome:
    """One program: what was measured, what the run saw, and anything else worth a line."""

    name: str
    measured: frozenset[Site]
    seen: frozenset[Site]
    remarks: tuple[str, ...]


def defined_functions(file: Path) -> set[str]:
    return {
        node.name for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.FunctionDef)
    }


def run_program(folder: Path, name: str, case: dict, options: argparse.Namespace) -> Outcome:
    file = folder / f"{name}.py"
    functions = defined_functions(file)
    command = [
        sys.executable,
        "-m",
        "breakscope",
        "run",
        f"{file}::make",
        "--no-vary",
        "--format",
        "json",
        "--timeout",
        str(options.timeout),
    ]
    command += ["--fake"] if options.fake else []
    command += ["--calls", "calls"] if "calls" in functions else []
    command += ["--drive", "drive"] if "drive" in functions else []
    # programs may write files where they run
    with tempfile.TemporaryDirectory() as folder_of_its_own:
        done = subprocess.run(
            command,
            cwd=folder_of_its_own,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    measured = frozenset((b["file"], b["line"]) for b in case["breaks"])
    try:
        report = from_json(done.stdout.encode())
    except ValueError:
        return Outcome(name, measured, frozenset(), (f"no report: {done.stderr.strip()[-300:]}",))
    return Outcome(name, measured, seen_sites(report, folder), remarks(report, case, folder))


def seen_breaks(report: Report) -> list[Finding]:
    return [
        f for f in report.findings if f.kind == "break" and f.evidence in ("observed", "confirmed")
    ]


def seen_sites(report: Report, folder: Path) -> frozenset[Site]:
    return frozenset((relative(f.path, folder), f.line) for f in seen_breaks(report))


def remarks(report: Report, case: dict, folder: Path) -> tuple[str, ...]:
    """Errors, a capture that was not checked, GB ids and numbers of recompiles that differ."""
    found = [f"error: {error.message}" for error in report.errors]
    if report.run is None or not report.run.capture_checked:
        return (*found, "the self-test was not seen")
    found += [f"note: {note}" for note in report.run.notes if "explain also" in note]
    measured = {(b["file"], b["line"], b["gb_id"]) for b in case["breaks"] if b.get("gb_id")}
    seen = {
        (relative(f.path, folder), f.line, gb_id) for f in seen_breaks(report) for gb_id in f.dynamo
    }
    found += [f"id only measured: {site}" for site in sorted(measured - seen)]
    found += [f"id only seen: {site}" for site in sorted(seen - measured)]
    wanted, got = len(case.get("recompiles") or ()), len(report.run.recompiles)
    if wanted != got:
        found.append(f"recompiles: measured {wanted}, seen {got}")
    return tuple(found)


def relative(path: str, folder: Path) -> str:
    try:
        return (ROOT / path).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path


def show(outcome: Outcome, remarks: bool) -> None:
    for file, line in sorted(outcome.measured - outcome.seen):
        print(f"missing  {outcome.name}: {file}:{line}", flush=True)
    for file, line in sorted(outcome.seen - outcome.measured):
        print(f"extra    {outcome.name}: {file}:{line}", flush=True)
    for remark in outcome.remarks if remarks else ():
        print(f"remark   {outcome.name}: {remark}", flush=True)


def report(running: Iterable[Outcome], show_remarks: bool) -> bool:
    """Print every difference as soon as its program is done, then the two shares; False when one is
    too low."""
    outcomes = []
    for outcome in running:
        outcomes.append(outcome)
        show(outcome, show_remarks)
    measured = sum(len(o.measured) for o in outcomes)
    found = sum(len(o.measured & o.seen) for o in outcomes)
    quiet = sum(not o.seen - o.measured for o in outcomes)
    share, clean = found / max(1, measured), quiet / max(1, len(outcomes))
    print(
        f"{len(outcomes)} programs: {found}/{measured} measured sites found ({share:.1%}), "
        f"{quiet}/{len(outcomes)} programs without extra sites ({clean:.1%})"
    )
    return share >= WANTED and clean >= WANTED


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one program")
    parser.add_argument("--fake", action="store_true", help="run with fake tensors")
    parser.add_argument(
        "--remarks", action="store_true", help="also print differing ids, recompiles, errors"
    )
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    truth = json.loads(options.truth.read_text(encoding="utf-8"))
    names = [
        n
        for n in truth
        if (options.folder / f"{n}.py").is_file() and (not options.names or n in options.names)
    ]
    began = time.monotonic()
    with ThreadPoolExecutor(options.workers) as pool:
        running = pool.map(
            lambda name: run_program(options.folder, name, truth[name], options), names
        )
        good = report(running, options.remarks)
    print(f"took {time.monotonic() - began:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "capture")
