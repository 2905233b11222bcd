#!/usr/bin/env python3
"""Measure how recompiles are explained: recompiles.py FOLDER [--truth TRUTH.json] [NAME ...]

FOLDER holds one program per file, each with `make()`, some with `calls()` or `drive(call, model)`,
as for capture_corpus.py. TRUTH.json maps a program's name to `{"recompiles": [{"reason",
"guard_line"}, ...], ...}`: then the programs that it knows to recompile are run, and the numbers
and lines compared; without it every program is run. `guard_line` is the line that Dynamo itself
names, where it names one.

Printed for every recompile: family, user's line and cause in plain words. At the end the shares
that are classified (any family but "other"), have a line of the user's, a cause that is more than
the guard's text, a fix, and seconds. Exit code 1 when not all are classified or fewer than 95 %
have a line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.dynamic.findings.recompile_advice import FIXES
from breakscope.report.model import Recompile, Report, from_json

WANTED_LINES = 0.95


@dataclass(frozen=True)
class Outcome:
    """One program: its recompiles, and what is wrong with them or with the run."""

    name: str
    recompiles: tuple[Recompile, ...]
    remarks: tuple[str, ...] = ()


def run_program(folder: Path, name: str, options: argparse.Namespace) -> Report | str:
    """The report of a run; else the end of what went to stderr."""
    file = folder / f"{name}.py"
    text = file.read_text(encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "breakscope",
        "run",
        f"{file}::make",
        "--format",
        "json",
        "--timeout",
        str(options.timeout),
    ]
    command += [] if options.vary else ["--no-vary"]
    command += ["--calls", "calls"] if "\ndef calls(" in text else []
    command += ["--drive", "drive"] if "\ndef drive(" in text else []
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
    try:
        return from_json(done.stdout.encode())
    except ValueError:
        return f"no report: {done.stderr.strip()[-300:]}"


def outcome(name: str, report: Report | str, wanted: list[dict] | None) -> Outcome:
    if isinstance(report, str):
        return Outcome(name, (), (report,))
    seen = report.run.recompiles if report.run else ()
    remarks = [error.message for error in report.errors]
    if wanted is not None and len(wanted) != len(seen):
        remarks.append(f"{len(wanted)} recompiles were measured, {len(seen)} seen")
    elif wanted is not None:
        remarks += [
            f"{was['file']}:{was['guard_line']} was measured, {now.site_path}:{now.site_line} named"
            for was, now in zip(wanted, seen, strict=True)
            if was.get("guard_line")
            and was.get("guard_file") == was.get("file")
            and was["guard_line"] != now.site_line
        ]
    return Outcome(name, seen, tuple(remarks))


def show(found: Outcome) -> None:
    for recompile in found.recompiles:
        place = (
            f"{Path(recompile.site_path).name}:{recompile.site_line}"
            if recompile.site_line
            else "no line"
        )
        print(f"{found.name}: {recompile.family} at {place}: {recompile.cause}", flush=True)
    for remark in found.remarks:
        print(f"{found.name}: REMARK {remark}", flush=True)


def summary(outcomes: list[Outcome]) -> bool:
    every = [recompile for found in outcomes for recompile in found.recompiles]
    counts = {
        "classified": sum(r.family != "other" for r in every),
        "with a user's line": sum(r.site_line > 0 for r in every),
        "in plain words": sum(bool(r.cause) and r.cause != r.guard for r in every),
        "with a fix": sum(bool(FIXES.get(r.family)) for r in every),
        "with seconds": sum(r.seconds > 0 for r in every),
    }
    print(
        f"{len(outcomes)} programs, {len(every)} recompiles, {len({r.family for r in every})} families; "
        f"{sum(bool(found.remarks) for found in outcomes)} programs with remarks"
    )
    print(
        "; ".join(
            f"{what} {number}/{len(every)} ({number / max(1, len(every)):.1%})"
            for what, number in counts.items()
        )
    )
    return counts["classified"] == len(every) and counts[
        "with a user's line"
    ] >= WANTED_LINES * len(every)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--truth", type=Path)
    parser.add_argument(
        "--vary",
        action="store_true",
        help="other batch sizes too, where a program has no calls of its own",
    )
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one program")
    options = parser.parse_args()
    folder = options.folder.resolve()
    truth = json.loads(options.truth.read_text(encoding="utf-8")) if options.truth else {}
    names = sorted(file.stem for file in folder.glob("*.py"))
    names = [
        name
        for name in names
        if (not options.names or name in options.names)
        and (not truth or truth.get(name, {}).get("recompiles"))
    ]
    outcomes = []
    for name in names:
        wanted = truth[name]["recompiles"] if truth else None
        outcomes.append(outcome(name, run_program(folder, name, options), wanted))
        show(outcomes[-1])
    return 0 if summary(outcomes) else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "recompiles")
