#!/usr/bin/env python3
"""Checks and runs at once, killed at moments drawn at random: ends.py [--checks 20] [--runs 4]
[--rounds 5] [--seed 0]

A round starts all of them in one folder, with a temporary folder of its own, and ends each with
SIGKILL or SIGTERM. Every second check has several processes. Every target starts programs that leave
it: in a session of its own, with no environment, orphaned. Then it is counted what is left: processes
that still have the round's folder as theirs, and temporary folders, before and after one more run.
Exit code 1 when anything is left. Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 15.0  # seconds that what is killed may take to go
PROGRAM = """\
import os
import subprocess
import time
import torch


def make():
    subprocess.Popen(["sleep", "900"], start_new_session=True)
    subprocess.Popen(["sleep", "900"], start_new_session=True, env={})
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", "900"], {})
        os._exit(0)
    time.sleep(900)


def short():
    return torch.nn.Linear(2, 2), (torch.ones(1, 2),), {}
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checks", type=int, default=20)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failures = 0
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="ends-") as name:
            folder = Path(name).resolve()
            ended = end_all(folder, options.checks, options.runs, chance)
            processes, folders = left(folder), len(temporary(folder))
            breakscope(folder, "run", "program.py::short", "--no-vary").wait()
            after = len(temporary(folder))
        failures += len(processes) + after
        print(
            f"round {number}: {options.checks} checks and {options.runs} runs, {ended} of them killed; "
            f"left: {len(processes)} processes, {folders} folders, {after} after the next run",
            flush=True,
        )
    return 1 if failures else 0


def end_all(folder: Path, checks: int, runs: int, chance: random.Random) -> int:
    """Start them and end each at a moment of its own; how many had not ended by themselves."""
    prepare(folder)
    started = [
        breakscope(folder, "check", "many", "--jobs", str(1 + number % 2 * 3))
        for number in range(checks)
    ]
    started += [breakscope(folder, "run", "program.py::make") for _ in range(runs)]
    begun = time.monotonic()
    moments = [chance.uniform(0, 6) for _ in range(checks)]
    moments += [chance.choice((chance.uniform(0, 3), chance.uniform(3, 40))) for _ in range(runs)]
    killed = 0
    for moment, process in sorted(zip(moments, started, strict=True), key=lambda pair: pair[0]):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        if process.poll() is None:
            killed += 1
            process.send_signal(chance.choice((signal.SIGKILL, signal.SIGTERM)))
        process.wait()
    return killed


def prepare(folder: Path) -> None:
    """The programs, and files enough that a check takes a while."""
    (folder / "temporary").mkdir()
    (folder / "program.py").write_text(PROGRAM)
    source = (ROOT / "samples" / "moe.py").read_text() * 5
    for number in range(200):  # the files of one folder stay together
        part = folder / "many" / f"part{number % 8}"
        part.mkdir(parents=True, exist_ok=True)
        (part / f"model{number}.py").write_text(source)


def breakscope(folder: Path, *arguments: str) -> subprocess.Popen:
    variables = {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "temporary"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "breakscope", *arguments],
        cwd=folder,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def left(folder: Path) -> list[int]:
    """The processes of the folder that are still there after a while."""
    until = time.monotonic() + LONGEST
    while (found := at_work(folder)) and time.monotonic() < until:
        time.sleep(0.2)
    for number in found:
        print(number, Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" "))
        os.kill(number, signal.SIGKILL)
    return found


def at_work(folder: Path) -> list[int]:
    """The processes that have the folder as working directory, wherever they hang in the tree."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and os.readlink(entry / "cwd") == str(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def temporary(folder: Path) -> list[Path]:
    """What breakscope has left in the temporary folder."""
    return list((folder / "temporary").glob("breakscope-*"))


if __name__ == "__main__":
    from result_file import run

    run(main, "ends")
