#!/usr/bin/env python3
"""Traced programs that end badly, at moments drawn at random: killed.py [--times 50] [--seed 0]
[HOW ...]

A program compiles, breaks and compiles again without end, and prints a number behind each round;
`breakscope trace` runs it, and it is ended in one of these ways (all of them where none is named):

    kill        SIGKILL to a program with a spawned worker and a fork: to all of them, or to the program and one more
    ranks       two ranks under torchrun: SIGKILL to torchrun and all below it, or to one rank
    interrupt   Ctrl-C: SIGINT to the whole process group, tracer included
    terminate   SIGTERM to the tracer
    limit       --timeout
    exit        os._exit(7) in the middle
    segfault    a null pointer is read

`--times` is shared out: half of it kills, a fifth ranks, the rest to the others. For every end the
report is compared with what the program printed before it, and with the trace files, whose records
are counted without breakscope's reader. Printed: one line for each way. Exit code 1 when a report
is missing, or an event of one, or the exit code is not the program's. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WAYS = {
    "kill": 0.5,
    "ranks": 0.2,
    "interrupt": 0.06,
    "terminate": 0.06,
    "limit": 0.06,
    "exit": 0.06,
    "segfault": 0.06,
}
CODES = {
    "kill": {137},
    "ranks": {137, 1},
    "interrupt": {130, 137, 1},
    "terminate": {143},
    "limit": {124},
    "exit": {7},
    "segfault": {139},
}
PROGRAM = """\
import ctypes
import os
import sys
import torch


def make(number):
    space = {"torch": torch}
    exec(f"def f(x):\\n    y = x + {number}\\n    torch._dynamo.graph_break()\\n    return y * 2", space)
    return space["f"]


def rounds(who, how="", last=0):
    torch.set_num_threads(1)
    for number in range(1_000_000):
        f = torch.compile(make(number), backend="eager")
        f(torch.ones(2))
        f(torch.ones(2, dtype=torch.float64))
        torch._dynamo.reset()
        os.write(1, f"{who} {number}\\n".encode())
        if how == "exit" and number == last:
            os._exit(7)
        if how == "segfault" and number == last:
            ctypes.string_at(0)


if __name__ == "__main__":
    how, last = sys.argv[1], int(sys.argv[2])
    if how == "ranks":
        torch.distributed.init_process_group("gloo")
        rounds(f"rank{torch.distributed.get_rank()}")
    if how == "kill":
        torch.multiprocessing.get_context("spawn").Process(target=rounds, args=("spawned",)).start()
        if os.fork() == 0:
            rounds("fork")
    rounds("program", how, last)
"""
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
RECORD = re.compile(
    rb'^V\d{4} [^\]\n]*\] \{"(?:artifact": \{"name": "(\w+)"|(dynamo_start)").*"frame_id": (\d+), "frame_compile_id": (\d+).*\}$',
    re.MULTILINE,
)


@dataclass
class Tally:
    """What became of the ends of one way."""

    times: int = 0
    reports: int = 0
    codes: Counter = field(default_factory=Counter)
    passed: int = 0  # rounds that the program printed
    breaks: Counter = field(default_factory=Counter)  # by "disk" and "report"
    recompiles: Counter = field(default_factory=Counter)
    compiles: Counter = field(default_factory=Counter)
    missing: int = 0
    seconds: list[float] = field(default_factory=list)  # from the end to the report


@dataclass(frozen=True)
class Before:
    """What there was before the end: rounds printed, and the size of each trace file. What a
    process that outlives the kill writes behind it is another matter."""

    rounds: int
    sizes: dict[str, int]

    @classmethod
    def read(cls, folder: Path) -> Before:
        rounds = (folder / "printed").read_bytes().count(b"\n")
        return cls(
            rounds, {file.name: file.stat().st_size for file in (folder / "raw").rglob("*.log")}
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("how", nargs="*", choices=[*WAYS, []])
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failures = 0
    for way in options.how or WAYS:
        tally = Tally()
        share = WAYS[way] / sum(WAYS[name] for name in options.how or WAYS)
        for _ in range(max(1, round(options.times * share))):
            with tempfile.TemporaryDirectory() as name:
                end_once(way, Path(name), chance, tally)
        failures += (
            tally.missing
            + tally.times
            - tally.reports
            + sum(n for code, n in tally.codes.items() if code not in CODES[way])
        )
        show(way, tally)
    return 1 if failures else 0


def show(way: str, tally: Tally) -> None:
    waited = sorted(tally.seconds)
    codes = ", ".join(f"{code} ({times}x)" for code, times in sorted(tally.codes.items()))
    print(
        f"{way:9} {tally.times:3} times: {tally.reports} reports, exit codes {codes}; {tally.passed} rounds printed; "
        + ", ".join(
            f"{kind} on disk {seen['disk']}, in the report {seen['report']}"
            for kind, seen in (
                ("breaks", tally.breaks),
                ("recompiles", tally.recompiles),
                ("compiles", tally.compiles),
            )
        )
        + f"; missing {tally.missing}; report after {waited[len(waited) // 2]:.1f} s (median), {waited[-1]:.1f} s (longest)",
        flush=True,
    )


def end_once(way: str, folder: Path, chance: random.Random, tally: Tally) -> None:
    (folder / "program.py").write_text(PROGRAM)
    last, before = chance.randrange(40), None
    limit = ["--timeout", f"{chance.uniform(5, 12):.1f}"] if way == "limit" else []
    launcher = TORCHRUN if way == "ranks" else []
    command = [
        sys.executable,
        "-m",
        "breakscope",
        "trace",
        "--save",
        "saved.json",
        "--keep",
        "raw",
        *limit,
        "--",
        sys.executable,
        *launcher,
        "program.py",
        way,
        str(last),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with open(folder / "printed", "wb") as printed:
        tracer = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        family = started(tracer)
        if way in ("kill", "ranks", "interrupt", "terminate"):
            wait(folder / "printed", tracer, chance)
            before = Before.read(folder)
            end(way, tracer, chance)
        while tracer.poll() is None and alive(family[0]):
            time.sleep(0.02)
        ended = time.monotonic()
        before = before or Before.read(folder)
        try:
            code = tracer.wait(120)
        except subprocess.TimeoutExpired:
            code = None
        tally.seconds.append(time.monotonic() - ended)
        kill(orphans(folder) if tracer.returncode is not None else [tracer.pid, *orphans(folder)])
    tally.times += 1
    tally.codes[code] += 1
    compare(folder, before, tally)


def started(tracer: subprocess.Popen) -> list[int]:
    """The program's process, and those below it."""
    while not (family := below(tracer.pid)) and tracer.poll() is None:
        time.sleep(0.01)
    return family


def wait(printed: Path, tracer: subprocess.Popen, chance: random.Random) -> None:
    """Wait for a moment drawn at random: in one of five while the program still starts, else
    between its rounds."""
    if chance.random() < 0.2:
        time.sleep(chance.uniform(0.5, 3))
        return
    while not printed.stat().st_size and tracer.poll() is None:
        time.sleep(0.02)
    time.sleep(chance.uniform(0, 4))


def end(way: str, tracer: subprocess.Popen, chance: random.Random) -> None:
    family = started(tracer)
    if way == "interrupt":
        os.killpg(tracer.pid, signal.SIGINT)
        # an interrupt in the middle of a compile may get lost
        while tracer.poll() is None and alive(family[0]):
            time.sleep(2)
            os.killpg(tracer.pid, signal.SIGINT)
    elif way == "terminate":
        tracer.terminate()
    elif way == "ranks" and chance.random() < 0.5:
        kill([chance.choice(family[1:] or family)])
    elif way == "ranks":
        kill(family)
    else:
        kill(family if chance.random() < 0.5 else family[1:][:1] + family[:1])


def compare(folder: Path, before: Before, tally: Tally) -> None:
    """The report beside what had been printed and lay on disk before the end."""
    try:
        report = json.loads((folder / "saved.json").read_bytes())
    except (OSError, ValueError):
        return
    tally.reports += 1
    reported = {
        "breaks": sum(f["count"] for f in report["findings"] if f["kind"] == "break"),
        "recompiles": len(report["run"]["recompiles"]),
        "compiles": sum(process["compiles"] for process in report["run"]["processes"]),
    }
    disk, passed = on_disk(folder / "raw", before.sizes), before.rounds
    tally.passed += passed
    for kind, seen in (
        ("breaks", tally.breaks),
        ("recompiles", tally.recompiles),
        ("compiles", tally.compiles),
    ):
        seen["disk"] += disk[kind]
        seen["report"] += reported[kind]
        tally.missing += max(0, disk[kind] - reported[kind])
    # each round that was printed has two breaks (one for each dtype) and one recompile of the
    # function itself
    tally.missing += max(0, 2 * passed - reported["breaks"]) + max(
        0, passed - reported["recompiles"]
    )


def on_disk(raw: Path, sizes: dict[str, int]) -> Counter:
    """The records of the trace files up to these sizes, a repeated attempt at one compile counted
    once."""
    found: Counter = Counter()
    for file in raw.rglob("*.log"):
        resets, started = 0, set()
        seen = set()
        for artifact, start, frame, number in RECORD.findall(
            file.read_bytes()[: sizes.get(file.name, 0)]
        ):
            if start:
                if (frame, number) in started:
                    resets, started = resets + 1, set()
                started.add((frame, number))
            seen.add((artifact or start, resets, frame, number))
        kinds = Counter(kind for kind, *_ in seen)
        found["breaks"] += kinds[b"dynamo_graph_break_reason"]
        found["recompiles"] += kinds[b"recompile_reasons"]
        found["compiles"] += kinds[b"dynamo_start"]
    return found


def below(pid: int) -> list[int]:
    """The children of a process and theirs, parents first."""
    found = [pid]
    for parent in found:
        try:
            found += [
                int(n) for n in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            ]
        except OSError:
            continue
    return found[1:]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def orphans(folder: Path) -> list[int]:
    """What still runs of the program, wherever it hangs in the tree of processes."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(folder) and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


if __name__ == "__main__":
    from result_file import run

    run(main, "killed")
