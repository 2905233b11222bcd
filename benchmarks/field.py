#!/usr/bin/env python3
"""Measure what Dynamo does with packages that nobody here has looked at, by their own test suites, and
score `breakscope check` by it.

    field.py FOLDER PACKAGE[==VERSION][=DIR] ... [--minutes 10] [--per-module 16] [--again 5]
                    [--with REQUIREMENT ...] [--modules]
    field.py FOLDER --score learn|hold [PACKAGE ...] [--places] [--whole]

FOLDER  where environments, sources and traces go; a package's environment lies upon a common one
        (FOLDER/base) with the torch of constraints.txt, which no package may change
DIR     the sources with the package's tests, where its source distribution has none

Each package's tests, and when they show nothing the Python of its description, run under
`breakscope trace --compile`: every module that they call is compiled with the backend eager. After that
many minutes of CPU time, or three times that by the clock, they are stopped, and what was gathered
counts; measured again, a package's tests go on with those that were not reached, and what they show is
added. With --modules not its tests run, but its modules, made from small numbers that the names of their
parameters suggest, and called in training and evaluation (field_driver/build.py). Break sites below the package's own folders and the lines of it that Dynamo traced are kept in
benchmarks/truth/field. What cannot be installed with this torch, or of which nothing was traced, is left
out with one line.

--score installs each version that was measured into a folder of FOLDER/libraries, with those that it
depends on that depend on torch, and checks the files of which lines were traced, with --whole all of the package, as its users do. A claim on a line that Dynamo traced without a break
is wrong when its condition held there, as one does that encloses the line; one whose condition is
decided elsewhere, or whose callers were not traced, is undecided, and counted. What the program
itself raises is no break; where only what was traced shows that it did, the site is counted apart, as
one where the program ended. --places prints each miss and false alarm with its code.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import field_truth
from field_score import print_score
from field_suites import Installed, LeftOut, Suite, base_environment, installed, run, suites_of

DRIVERS = Path(__file__).resolve().parent / "field_driver"
DRIVER, BUILDER = DRIVERS / "drive.py", DRIVERS / "build.py"
QUIET = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "WANDB_MODE": "disabled",
    "MPLBACKEND": "Agg",
    "CUDA_VISIBLE_DEVICES": "",
    "TORCH_LOGS": "trace_source",
}
START = 120  # seconds for imports, the collection of tests and the last test or block
EACH = 60  # seconds for one test or block


def measured(package: Installed, given: str, options: argparse.Namespace) -> dict[str, Any]:
    """What all that there is to run of a package shows; the description only where its tests show
    nothing."""
    parts = []
    suites = [modules_of(package, options)] if options.modules else None
    for suite in suites or suites_of(package, given, options.folder):
        parts.append(traced(package, suite, options))
        if parts[-1]["traced"]:
            break
    found = field_truth.together(parts)
    if not found["traced"]:
        raise LeftOut("nothing of it was traced" if parts else "there is nothing to run")
    return found


def modules_of(package: Installed, options: argparse.Namespace) -> Suite:
    """The modules of a package that can be made and called, as field_driver/build.py finds them."""
    work = options.folder / "modules" / f"{package.name}-{package.version}"
    work.mkdir(parents=True, exist_ok=True)
    plans = work / "plans.json"
    if not plans.exists():
        seconds = options.minutes * 60
        find = [package.python, "-P", BUILDER, "find", EACH, seconds, plans]
        tops = [name.removesuffix(".py") for name in package.folders]
        said = run([*map(str, find), *tops], 3 * seconds + START)
        print(f"    {said.splitlines()[-1]}", flush=True)
    return Suite("modules", (plans,), work)


def differing(
    package: Installed, suite: Suite, before: int, options: argparse.Namespace
) -> list[str]:
    """The tests that failed just now, after so many results, and pass without `trace --compile`."""
    failed = [line[7:] for line in results(suite)[before:] if line.startswith("failed ")]
    failed = failed[: options.again]
    if not failed:
        return []
    known = len(results(suite))
    limit = min(EACH * len(failed), options.minutes * 30)
    command = [str(package.python), "-P", str(DRIVER), "tests", str(EACH), str(limit), *failed]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command,
            cwd=suite.folder,
            env={**os.environ, **QUIET, "PYTHONPATH": ""},
            capture_output=True,
            timeout=3 * limit + START,
        )
    now = results(suite)[known:]
    return [
        name
        for name in dict.fromkeys(failed)  # a test with subtests ends more than once
        if f"passed {name}" in now and f"failed {name}" not in now
    ]


def results(suite: Suite) -> list[str]:
    """How the tests ended so far, as drive.py writes it."""
    file = suite.folder / "field_results.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def traced(package: Installed, suite: Suite, options: argparse.Namespace) -> dict[str, Any]:
    """Run one suite under `trace --compile`, and read what its traces hold."""
    traces = options.folder / "traces" / package.name
    shutil.rmtree(traces, ignore_errors=True)
    command = [sys.executable, "-P", "-m", "breakscope", "trace", "--compile", "--no-progress"]
    command += ["--keep", str(traces), "--timeout", str(options.minutes * 180 + START)]
    command += ["--per-module", str(options.per_module), "--alike", "1"]
    command += ["--format", "json", "--output", str(options.folder / f"{package.name}.json"), "--"]
    driver = [BUILDER, "call"] if suite.kind == "modules" else [DRIVER, suite.kind]
    command += [str(package.python), "-P", *map(str, driver), str(EACH)]
    command += [str(options.minutes * 60)]
    before = len(results(suite))
    log = options.folder / f"{package.name}.{suite.kind}.log"
    with open(log, "w", encoding="utf-8") as stream:
        subprocess.run(
            [*command, *map(str, suite.paths)],
            cwd=suite.folder,
            env={**os.environ, **QUIET, "PYTHONPATH": ""},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    print(f"    {suite.kind}: {said[-1][:150] if said else 'nothing was printed'}", flush=True)
    for test in differing(package, suite, before, options):
        print(f"    fails only under trace --compile: {test}", flush=True)
    try:
        return field_truth.facts(traces, package.site, package.folders)
    finally:
        if not options.keep_traces:
            shutil.rmtree(traces, ignore_errors=True)


def measure(options: argparse.Namespace) -> int:
    versions = versions_of(base_environment(options.folder))
    for wanted in options.packages:
        requirement, given = parsed_package(wanted)
        name = requirement.partition("==")[0]
        try:
            package = installed(options.folder, requirement, options.more)
            print(f"{name} {package.version} ({field_truth.half_of(name)})", flush=True)
            if options.install_only:
                suites_of(package, given, options.folder)
                continue
            found = measured(package, given, options)
        except LeftOut as problem:
            print(f"{name}: left out: {problem}", flush=True)
            continue
        half = field_truth.half_of(name)
        data = field_truth.read(half)
        data["meta"] = versions
        before = data["models"].get(name)
        if before and (before["version"], before["torch"]) == (package.version, versions["torch"]):
            found = field_truth.together([before, found])
        about = {"library": name, "version": package.version, "status": "ok", **versions}
        data["models"][name] = {**about, **found}
        field_truth.write(half, data)
        count = sum(last - first + 1 for spans in found["traced"].values() for first, last in spans)
        print(f"{name}: {len(found['breaks'])} break sites, {count} lines", flush=True)
    return 0


def versions_of(env: Path) -> dict[str, str]:
    code = "import importlib.metadata as m, platform, time; print(m.version('torch'), platform.python_version(), time.strftime('%Y-%m-%d'))"
    torch, python, date = run([str(env / "bin" / "python"), "-c", code], 60).split()
    return {"torch": torch, "python": python, "date": date}


def parsed_package(wanted: str) -> tuple[str, str]:
    """The requirement and the folder of `NAME==1.0=DIR`."""
    name, _, rest = wanted.partition("=")
    if not rest.startswith("="):
        return name, rest
    version, _, folder = rest[1:].partition("=")
    return f"{name}=={version}", folder


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE[==VERSION][=DIR]")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--per-module", type=int, default=16)
    parser.add_argument("--with", dest="more", nargs="*", default=[], metavar="REQUIREMENT")
    parser.add_argument("--modules", action="store_true", help="call its modules, not its tests")
    parser.add_argument("--install-only", action="store_true", help="measure later")
    parser.add_argument(
        "--again", type=int, default=5, help="tests that failed and are tried without trace"
    )
    parser.add_argument("--keep-traces", action="store_true")
    parser.add_argument("--score", choices=field_truth.HALVES)
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--whole", action="store_true", help="check all of a package")
    options = parser.parse_intermixed_args()
    if not options.score and not options.packages:
        parser.error("give a package, or --score")
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.score:
        return print_score(
            options.folder, options.score, options.packages, options.places, options.whole
        )
    return measure(options)


if __name__ == "__main__":
    sys.exit(main())
