"""What `breakscope trace` costs the program that it watches: trace_overhead.py [--pairs 6]
[--backend inductor]

A training step of an MLP of 12 blocks runs by itself and under `breakscope trace`, in pairs (A B, B
A, ...), every time from empty caches in a process of its own. The program takes its own times: CPU
seconds, with those of the compilers that it starts, of the step that compiles; and of its steady
steps, in CPU seconds of its thread, the first decile, which other work on the machine disturbs
least.

Printed: both times with and without, the median of the pairs' ratios and its 95 % interval. What is
aimed at: steady steps not measurably slower, compiling at most 5 % more expensive. The exit code is 1 when
an interval shows more than that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.dynamic.bench.statistics import compare, interval_of, ratios

PROGRAM = """
import json, resource, statistics, sys, time
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(self.norm(x))))

class Model(nn.Module):
    def __init__(self, blocks=12, width=64):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

def spent():
    every = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in every)

torch.manual_seed(0)
model, x = Model(), torch.randn(32, 64)
step = torch.compile(model, backend=sys.argv[2])

def run():
    step(x).sum().backward()
    model.zero_grad()

before = spent()
run()
compiling = spent() - before
for _ in range(20):
    run()
steps = []
for _ in range(400):
    began = time.thread_time()
    run()
    steps.append(time.thread_time() - began)
with open(sys.argv[1], "w") as file:
    json.dump({"compile": compiling, "step": statistics.quantiles(steps, n=10)[0]}, file)
"""
MOST_COMPILE = 1.05


def run_once(folder: Path, backend: str, traced: bool) -> dict[str, float]:
    """The program's own times, from a process of its own with empty caches."""
    with tempfile.TemporaryDirectory(dir=folder) as caches:
        times_path = Path(caches) / "times.json"
        command = [sys.executable, str(folder / "program.py"), str(times_path), backend]
        if traced:
            command = [
                sys.executable,
                "-m",
                "breakscope",
                "trace",
                "--output",
                str(Path(caches) / "report.txt"),
                "--",
                *command,
            ]
        variables = os.environ | {
            "TORCHINDUCTOR_CACHE_DIR": caches,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
        }
        subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
        return json.loads(times_path.read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=6, help="6 at least, for a claim")
    parser.add_argument("--backend", default="inductor")
    options = parser.parse_args()
    alone, traced = [], []
    with tempfile.TemporaryDirectory(prefix="breakscope-") as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        run_once(folder, options.backend, False)  # fills the system's file cache
        for number in range(options.pairs):
            for with_trace in (False, True) if number % 2 == 0 else (True, False):
                (traced if with_trace else alone).append(
                    run_once(folder, options.backend, with_trace)
                )
            print(
                f"pair {number + 1}: "
                + ", ".join(
                    f"{what} {alone[-1][what]:.4g} s alone, {traced[-1][what]:.4g} s traced"
                    for what in ("compile", "step")
                ),
                flush=True,
            )
    too_much = False
    for what in ("compile", "step"):
        with_, without = [times[what] for times in traced], [times[what] for times in alone]
        pairs = ratios(with_, without)
        interval, found = interval_of(pairs), compare(with_, without)
        print(
            f"{what}: {median(without):.4g} s alone, {median(with_):.4g} s traced, ratio {median(pairs):.3f} "
            f"({interval.low:.3f} to {interval.high:.3f})"
            + (f": {found[2]}" if found else ": too few pairs for a claim")
        )
        too_much |= (
            interval.low > MOST_COMPILE
            if what == "compile"
            else bool(found and found[2] == "slower")
        )
    return int(too_much)


if __name__ == "__main__":
    from result_file import run

    run(main, "trace-overhead")
