#!/usr/bin/env python3
"""Measure what Dynamo does with packages that nobody here has looked at, by their own test suites.

    field.py ENV OUT.json PACKAGE[=TESTS] ... [--minutes 10] [--per-module 32] [--with REQUIREMENT ...]

ENV    a virtual environment with torch, pytest and breakscope; the packages are installed into it
       (without what would bring another torch)
TESTS  the folder or files to run, of the package's source distribution unless the path exists here;
       without it: its `tests`, `test` or `examples`

Each suite is run under `breakscope trace --compile`, so every module that a test calls is compiled
with the backend eager; in OUT.json, which truth.py describes, stand the break sites below the
package's own folder and the lines of it that Dynamo traced. Then

    accuracy.py --zoo SITE_PACKAGES OUT.json --places

scores `check` on exactly those lines, with each miss and false alarm. A package whose tests traced
nothing of it is left out, and said.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measure_truth import ranges, relative

from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records, registry
from breakscope.dynamic.trace.processes import read_processes, torch_root

TESTS = ("tests", "test", "testing", "examples")
QUIET = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TORCH_LOGS": "trace_source"}


def installed(env: Path, package: str, more: list[str]) -> tuple[str, list[str]]:
    """Install a package: its version, and its top folders in site-packages."""
    python = str(env / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    run([python, "-m", "pip", "install", "-q", "-c", constraints, package, *more])
    code = (
        "import sys, importlib.metadata as m; d = m.distribution(sys.argv[1]);"
        "print(d.version); print(*sorted({f.parts[0] for f in d.files or () if f.suffix == '.py' and len(f.parts) > 1}))"
    )
    version, folders = run([python, "-c", code, package.partition("==")[0]]).splitlines()[:2]
    return version, folders.split()


def tests_of(package: str, version: str, wanted: str, folder: Path) -> Path:
    """The tests to run: those that were named, or of the source distribution, which is unpacked."""
    if wanted and Path(wanted).exists():
        return Path(wanted).resolve()
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    run([*pip, "--no-build-isolation", "-d", str(folder), f"{package}=={version}"])
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    top = next(path for path in folder.iterdir() if path.is_dir())
    for name in [wanted] if wanted else TESTS:
        if (top / name).exists():
            return top / name
    raise LookupError(f"its source distribution holds no {wanted or ' or '.join(TESTS)}")


def measured(env: Path, tests: Path, top_folders: list[str], options: Any) -> dict[str, Any]:
    """Break sites and traced lines of a package while its tests ran."""
    site = next((env / "lib").glob("python3*")) / "site-packages"
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder) / "traces"
        command = [str(env / "bin" / "python"), "-m", "breakscope", "trace", "--compile"]
        command += ["--keep", str(traces), "--timeout", str(options.minutes * 60)]
        command += ["--per-module", str(options.per_module), "--format", "json"]
        command += ["--output", str(Path(folder) / "report.json"), "--no-progress", "--"]
        command += [str(env / "bin" / "python"), "-m", "pytest", "-q"]
        command += ["-p", "no:cacheprovider", "--no-header", str(tests)]
        command = [part for part in command if part]
        done = subprocess.run(
            command,
            cwd=tests if tests.is_dir() else tests.parent,
            env={**os.environ, **QUIET},
            capture_output=True,
            text=True,
        )
        said = [line for line in done.stdout.splitlines() if line.strip()][-1:]
        print("   ", *said, flush=True)
        return facts(traces, site, top_folders)


def facts(traces: Path, site: Path, top_folders: list[str]) -> dict[str, Any]:
    processes = read_processes(traces)
    places = Places.here(torch_root(processes))
    ids = registry(places.torch)
    lines: dict[str, set[int]] = {}
    sites: dict[tuple[str, int], tuple[str, str]] = {}
    for process in processes:
        seen = read_records(process.records, process.messages, places, ids)
        for path, numbers in seen.traced.items():
            lines.setdefault(relative(path, site), set()).update(numbers)
        for found in seen.breaks:
            place = relative(found.site.path, site), found.site.line
            sites.setdefault(place, (found.reason.gb_id, found.reason.type))
    own = {file for file in lines if file.partition("/")[0] in top_folders}
    return {
        "breaks": [
            {"file": file, "line": line, "gb_id": gb_id, "gb_type": kind}
            for (file, line), (gb_id, kind) in sorted(sites.items())
            if file.partition("/")[0] in top_folders
        ],
        "traced": {file: ranges(lines[file]) for file in sorted(own)},
    }


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise LookupError((said or done.stderr.splitlines() or ["failed"])[-1][:200])
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("env", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE[=TESTS]")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--per-module", type=int, default=32)
    parser.add_argument("--with", dest="more", nargs="*", default=[], metavar="REQUIREMENT")
    options = parser.parse_args()
    env = options.env.resolve()
    code = "import torch; print(torch.__version__)"
    torch = run([str(env / "bin" / "python"), "-c", code]).strip()
    data = json.loads(options.out.read_text()) if options.out.exists() else {"models": {}}
    data["meta"] = {"torch": torch, "python": platform.python_version()}
    for wanted in options.packages:
        package, _, tests = wanted.partition("=") if "==" not in wanted else (wanted, "", "")
        with tempfile.TemporaryDirectory() as folder:
            try:
                version, folders = installed(env, package, options.more)
                name = package.partition("==")[0]
                print(f"{name} {version}", flush=True)
                found = measured(
                    env, tests_of(name, version, tests, Path(folder)), folders, options
                )
            except LookupError as problem:
                print(f"{package}: left out: {problem}", flush=True)
                continue
        if not found["traced"]:
            print(f"{name}: left out: its tests traced none of its lines", flush=True)
            continue
        data["models"][name] = {"library": name, "version": version, "status": "ok", **found}
        count = sum(last - first + 1 for s in found["traced"].values() for first, last in s)
        print(f"{name}: {len(found['breaks'])} break sites, {count} lines", flush=True)
        options.out.write_text(written(data), encoding="utf-8")
    return 0


def written(data: dict[str, Any]) -> str:
    """A line for each package."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data["models"].items())
    return f'{{"meta": {json.dumps(data["meta"])}, "models": {{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(main())
