#!/usr/bin/env python3
"""Real kinds of programs, traced: programs.py [--jobs N] [--uncured] [NAME ...]

Each file of programs/ is a program of its own and says what is wanted of its trace:

    x = f(y)  # want: recompile size x2 "dimension 0 of `x`"; break GB0124

is, at that line, two recompiles for a size with these words in their cause, and a break. A further
`also dtype` is a second cause that must be named; `# want below:` is about the next line. With
`--cured` the program does what the advice says; `cured: breaks N, recompiles M` in its docstring is
what must be left. What TORCH_LOGS lists in the same run is counted beside it: nothing may be
missing, nothing besides.

Programs whose docstring names torchrun run on two ranks. Printed: one line for each; exit code 1
when anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "benchmarks" / "programs"
WANT = re.compile(r"#\s*want(?P<below> below)?: (?P<wants>.*)$")
ONE = re.compile(
    r"(?P<kind>break|recompile) ?(?P<what>\w+)?(?: x(?P<count>\d+))?"
    r"(?: also (?P<also>\w+))?(?: \"(?P<words>[^\"]+)\")?$"
)
CURED = re.compile(r"^cured: breaks (?P<breaks>\d+), recompiles (?P<recompiles>\d+)", re.MULTILINE)
LOGGED = {
    "recompiles": re.compile(r"\[__recompiles\] Recompiling function"),
    "breaks": re.compile(r"\[__graph_breaks\] Graph break in user code at (?P<place>\S+:\d+)"),
}


def wants(file: Path) -> list[tuple[int, dict]]:
    """What the program says of itself, with the line."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if comment := WANT.search(line):
            for part in comment["wants"].split("; "):
                one = ONE.match(part.strip())
                if one is None:
                    raise SystemExit(f"{file.name}:{number}: cannot be read: {part}")
                found.append((number + bool(comment["below"]), one.groupdict()))
    return found


def traced(file: Path, cured: bool) -> tuple[dict, str]:
    """The saved report, and what TORCH_LOGS wrote in the same run."""
    text = file.read_text(encoding="utf-8")
    many = "torchrun" in text.partition('"""\n')[0]
    program = [sys.executable]
    program += (
        ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if many else []
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "breakscope", "trace", "--save", f"{folder}/saved.json"),
                *("--", *program, str(file)),
                *(["--cured"] if cured else []),
            ],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "OMP_NUM_THREADS": "1",
                "TORCH_LOGS": "graph_breaks,recompiles",
                "TORCH_LOGS_OUT": str(log),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        saved = Path(folder) / "saved.json"
        report = json.loads(saved.read_bytes()) if saved.exists() else {}
        logged = log.read_text(encoding="utf-8") if log.exists() else ""
        return report, max(logged, done.stderr, key=len)


def problems(file: Path, report: dict, log: str) -> list[str]:
    """What of the wanted is missing, what is besides, and where TORCH_LOGS counts another number."""
    if not report:
        return ["no report"]
    found = [f for f in report["findings"] if f["evidence"] != "predicted"]
    bad: list[str] = []
    taken: set[int] = set()
    for line, want in wants(file):
        match = next(
            (
                index
                for index, f in enumerate(found)
                if index not in taken and f["kind"] == want["kind"] and _fits(f, want)
                and line in _lines(f, file)
            ),
            None,
        )  # fmt: skip
        if match is None:
            bad.append(f"line {line}: no {want['kind']} {want['what'] or ''} {want['words'] or ''}")
        else:
            taken.add(match)
    bad += [
        f"besides: {f['kind']} at {f['line']}: {f['message'][:80]}"
        for index, f in enumerate(found)
        if index not in taken
    ]
    events = len(report["run"]["recompiles"])
    logged = len(LOGGED["recompiles"].findall(log))
    if logged != events:
        bad.append(f"TORCH_LOGS lists {logged} recompiles, the report {events}")
    places = {
        place.rpartition(":")[2]
        for place in LOGGED["breaks"].findall(log)
        if Path(place.rpartition(":")[0]).name == file.name
    }
    shown = {str(line) for f in found if f["kind"] == "break" for line in _lines(f, file)}
    bad += [f"TORCH_LOGS names a break at line {p}" for p in places if p not in shown]
    return bad


def _fits(finding: dict, want: dict) -> bool:
    words = (want["words"] or "").lower()
    count = int(want["count"] or 0)
    return (
        (not want["what"] or want["what"] in finding["dynamo"])
        and (not count or finding["count"] == count)
        and words in finding["message"].lower()
        and (not want["also"] or any(want["also"] in text for text in finding["other_causes"]))
    )


def _lines(finding: dict, file: Path) -> set[int]:
    """The finding's line, and those of its chain in the program: a recompile for a mode stands at
    the caller."""
    links = [*finding["chain"], *(finding["inside"] or {"chain": []})["chain"], *finding["places"]]
    return {finding["line"]} | {
        link["line"] for link in links if Path(link["path"]).name == file.name
    }


def outcome(file: Path, uncured: bool) -> tuple[str, list[str], str]:
    report, log = traced(file, cured=False)
    bad = problems(file, report, log)
    wanted = CURED.search(file.read_text(encoding="utf-8"))
    left = "not run cured"
    if wanted and not uncured:
        cured, _ = traced(file, cured=True)
        breaks = sum(f["kind"] == "break" for f in cured.get("findings", []))
        recompiles = len((cured.get("run") or {}).get("recompiles", []))
        left = f"cured: {breaks} breaks, {recompiles} recompiles"
        if (breaks, recompiles) != (int(wanted["breaks"]), int(wanted["recompiles"])):
            bad.append(f"{left}; wanted: {wanted.group()}")
    return file.stem, bad, left


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--uncured", action="store_true", help="leave out the cured programs")
    options = parser.parse_args()
    files = [
        f for f in sorted(PROGRAMS.glob("*.py")) if not options.names or f.stem in options.names
    ]
    good = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, bad, left in pool.map(lambda file: outcome(file, options.uncured), files):
            good += not bad
            print(
                f"{name}: {'as wanted' if not bad else 'WRONG: ' + '; '.join(bad)}; {left}",
                flush=True,
            )
    print(f"{good} of {len(files)} programs as wanted")
    return 0 if good == len(files) else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "programs")
