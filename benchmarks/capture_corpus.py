#!/usr/bin/env python3
"""Measure the dynamic analyzer against a corpus: capture_corpus.py FOLDER TRUTH.json [NAME ...]

FOLDER holds one program per file, each with `make()`, some with `calls()` or `drive(call, model)`. TRUTH.json maps a
program's name to `{"breaks": [{"file", "line", "gb_id"}, ...], ...}`, files relative to FOLDER. Every program is run as
`breakscope run FILE::make --no-vary` would (with `--calls calls` or `--drive drive` where the program defines them),
and the sites (file, line) of the observed breaks are compared with the measured ones.

Printed: the share of measured sites that were found, the share of programs without extra sites, and every difference.
Exit code 1 when either share is below 98 %.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from breakscope.dynamic import RunOptions, RunResult, run_target  # noqa: E402

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
    return {node.name for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.FunctionDef)}


def run_program(folder: Path, name: str, case: dict, options: argparse.Namespace) -> Outcome:
    file = folder / f"{name}.py"
    functions = defined_functions(file)
    result = run_target(RunOptions(
        file=str(file), name="make", vary=False, calls="calls" if "calls" in functions else "",
        drive="drive" if "drive" in functions else "", timeout=options.timeout, backward=not options.no_backward,
        witness=options.witness))
    measured = frozenset((b["file"], b["line"]) for b in case["breaks"])
    return Outcome(name, measured, seen_sites(result, folder), remarks(result, case, folder))


def seen_sites(result: RunResult, folder: Path) -> frozenset[Site]:
    return frozenset((relative(f.path, folder), f.line) for f in result.findings if f.kind == "break")


def remarks(result: RunResult, case: dict, folder: Path) -> tuple[str, ...]:
    """Errors, a capture that was not checked, GB ids and recompiled files that differ."""
    found = [f"error: {error.message}" for error in result.errors]
    if not result.run.capture_checked:
        found.append("the self-test was not seen")
    found += [f"note: {note}" for note in result.run.notes if "explain also" in note]
    measured = {(b["file"], b["line"], b["gb_id"]) for b in case["breaks"] if b.get("gb_id")}
    seen = {(relative(f.path, folder), f.line, i) for f in result.findings if f.kind == "break" for i in f.dynamo}
    found += [f"id only measured: {site}" for site in sorted(measured - seen)]
    found += [f"id only seen: {site}" for site in sorted(seen - measured)]
    wanted, got = len(case.get("recompiles") or ()), len(result.run.recompiles)
    if wanted != got:
        found.append(f"recompiles: measured {wanted}, seen {got}")
    return tuple(found)


def relative(path: str, folder: Path) -> str:
    try:
        return Path(path).resolve().relative_to(folder.resolve()).as_posix()
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
    """Print every difference as soon as its program is done, then the two shares; False when one is too low."""
    outcomes = []
    for outcome in running:
        outcomes.append(outcome)
        show(outcome, show_remarks)
    measured = sum(len(o.measured) for o in outcomes)
    found = sum(len(o.measured & o.seen) for o in outcomes)
    quiet = sum(not o.seen - o.measured for o in outcomes)
    share, clean = found / max(1, measured), quiet / max(1, len(outcomes))
    print(f"{len(outcomes)} programs: {found}/{measured} measured sites found ({share:.1%}), "
          f"{quiet}/{len(outcomes)} programs without extra sites ({clean:.1%})")
    return share >= WANTED and clean >= WANTED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one program")
    parser.add_argument("--no-backward", action="store_true")
    parser.add_argument("--witness", action="store_true", help="ask torch._dynamo.explain too")
    parser.add_argument("--remarks", action="store_true", help="also print differing ids, recompiles, errors")
    options = parser.parse_args()
    truth = json.loads(options.truth.read_text(encoding="utf-8"))
    names = [n for n in truth if (options.folder / f"{n}.py").is_file() and (not options.names or n in options.names)]
    began = time.monotonic()
    with ThreadPoolExecutor(options.workers) as pool:
        running = pool.map(lambda name: run_program(options.folder, name, truth[name], options), names)
        good = report(running, options.remarks)
    print(f"took {time.monotonic() - began:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
