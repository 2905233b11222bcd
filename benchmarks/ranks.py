#!/usr/bin/env python3
"""Ranks under torchrun, traced: ranks.py [--ranks 2 4 8] [--limit 120] [HOW ...]

A small model steps on gloo ranks, one thread each, in one of these ways (all of them where none is
named):

    same    all ranks do the same: one report, and no word of parting
    size    the last rank gets another batch size once, so it compiles again: rank, line and guard
    break   the last rank takes a branch that breaks the graph: rank, line and GB id
    hang    as "size", and the last rank never comes to the next collective: the others wait, until --limit ends them

For each, `breakscope trace` must report every rank, and the first event at which they part.
Printed: one line for each; exit code 1 when a report is missing or wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """\
import sys
import time
import torch
import torch.distributed as dist

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)


def step(x, odd):
    y = model(x)
    if odd:
        print(y.shape)
    return y * 2


dist.init_process_group("gloo")
how, last = sys.argv[1], dist.get_rank() == dist.get_world_size() - 1
compiled = torch.compile(step, backend="eager")
for number in range(3):
    other = last and (number == 1 or how == "break")
    y = compiled(torch.ones(6 if other and how in ("size", "hang") else 4, 4), other and how == "break")
    if other and how == "hang":
        time.sleep(1000)
    total = y.sum().detach()
    dist.all_reduce(total)
dist.destroy_process_group()
"""
WANTED = {  # how the last rank parts from the others: kind, line, and what is said of it
    "same": None,
    "size": ("recompile", 11, "size mismatch at index 0"),
    "break": ("break", 14, "GB0059"),
    "hang": ("recompile", 11, "size mismatch at index 0"),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--limit", type=float, default=120, help="seconds until a hang is ended")
    parser.add_argument("how", nargs="*", choices=[*WANTED, []])
    options = parser.parse_args()
    failures = 0
    for ranks in options.ranks:
        for how in options.how or WANTED:
            with tempfile.TemporaryDirectory() as folder:
                problem = trace(ranks, how, options.limit, Path(folder))
            failures += bool(problem)
    return 1 if failures else 0


def trace(ranks: int, how: str, limit: float, folder: Path) -> str:
    """What is wrong with the report; "" when nothing is."""
    (folder / "train.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "breakscope",
        "trace",
        "--save",
        "saved.json",
        "--timeout",
        str(limit if how == "hang" else 500),
        "--",
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(ranks),
        "train.py",
        how,
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    try:
        run = json.loads((folder / "saved.json").read_bytes())["run"]
    except (OSError, ValueError):
        run = {"processes": [], "divergence": None}
    problem = judged(ranks, how, run, done.returncode)
    last_event = run["divergence"]["events"][-1] if run["divergence"] else None
    parted = (
        f"rank {last_event['rank']}: {last_event['kind']} of {last_event['function']} at {last_event['path']}:{last_event['line']}, {last_event['what']}"
        if last_event
        else "ranks agree"
    )
    print(
        f"{ranks} ranks, {how:5}: exit code {done.returncode}, {len(run['processes'])} ranks reported; {parted}; "
        f"{time.monotonic() - began:.0f} s{'; WRONG: ' + problem if problem else ''}",
        flush=True,
    )
    return problem


def judged(ranks: int, how: str, run: dict, code: int) -> str:
    if [process["rank"] for process in run["processes"]] != list(range(ranks)):
        return "not every rank is in the report"
    if code != (124 if how == "hang" else 0):
        return "exit code"
    wanted, found = WANTED[how], run["divergence"]
    if wanted is None or found is None:
        return "" if wanted is None and found is None else "parting"
    *others, last = found["events"]
    kind, line, what = wanted
    good = (last["rank"], last["kind"], last["line"]) == (ranks - 1, kind, line) and what in last[
        "what"
    ]
    return "" if good and all(event["kind"] != kind for event in others) else "where they part"


if __name__ == "__main__":
    from result_file import run

    run(main, "ranks")
