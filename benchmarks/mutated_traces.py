"""Damaged traces and logs through the reader and the report, and how many of them it could not
stand.

    python benchmarks/mutated_traces.py [HOW_MANY] [SEED]

The traces are those of the tests (six torch versions). Every failure is printed with the seed that
brings it back, and so is every trace that takes more than two seconds of CPU time.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests" / "dynamic"
sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]

from mutate import mutate

from breakscope.dynamic import read_result
from breakscope.errors import UserError
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import from_json, to_json
from breakscope.workflows.trace import explain

LONG = 2.0  # seconds of CPU for one trace that is worth a look


def main(how_many: int = 10_000, seed: int = 0) -> int:
    originals = [
        file.read_bytes()
        for file in sorted((TESTS / "golden").iterdir())
        if file.suffix in (".log", ".txt")
    ]
    failures = readable = 0
    slowest = (0.0, 0)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.log"
        for number in range(seed, seed + how_many):
            chance = random.Random(number)
            file.write_bytes(mutate(chance.choice(originals), chance))
            started = time.process_time()
            try:
                report = explain(read_result(file, ()), ())
                from_json(to_json(report))
                render(report, "text", RenderOptions(width=80))
                readable += bool(report.findings)
            except UserError:  # nothing readable was left
                pass
            except Exception as problem:
                failures += 1
                print(f"seed {number}: {type(problem).__name__}: {str(problem)[:200]}", flush=True)
            took = time.process_time() - started
            slowest = max(slowest, (took, number))
            if took > LONG:
                print(f"seed {number}: {took:.1f} s of CPU", flush=True)
    seconds = time.process_time() - began
    megabytes = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1 if sys.platform == "linux" else 1024)
        / 1e3
    )
    print(
        f"{how_many} damaged traces from seed {seed} on: {failures} failures, findings in {readable}, "
        f"{seconds / how_many * 1e3:.0f} ms of CPU each, at most {slowest[0] * 1e3:.0f} ms (seed {slowest[1]}); {megabytes:.0f} MB"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    from result_file import run

    run(lambda: main(*map(int, sys.argv[1:])), "damaged-traces")
