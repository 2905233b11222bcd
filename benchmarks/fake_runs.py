#!/usr/bin/env python3
"""What does a fake run of a large model cost, and does it see the breaks of the same model in small?

    fake_runs.py [NAME ...]    of the decoders in large/: llama_70b, experts_70b

Each is run by `breakscope run --fake` with the dimensions of a model of 70 billion parameters, forward
alone and then with the backward pass, and its twin with small dimensions without `--fake`. Printed: CPU
seconds of all processes, the memory of the largest, and whether both saw the same break sites (file,
line, GB id). Exit code 1 where they did not, or where a run took more than is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "benchmarks" / "large" / "decoders.py"
TWINS = {"llama_70b": "llama_small", "experts_70b": "experts_small"}
# passes -> CPU seconds, GB
WANTED = {"forward": (60, 2), "forward and backward": (180, 4)}


def measured(name: str, options: list[str]) -> tuple[dict, float, float]:
    """The report of a run, its CPU seconds and the GB of its largest process.

    A process of its own starts it, so that what is counted is of this run alone."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        command = [sys.executable, "-m", "breakscope", "run", f"{FILE}::{name}", *options]
        done = subprocess.run(
            [*command, "--format", "json"], cwd=ROOT, capture_output=True, check=False
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts = {
            "report": json.loads(done.stdout or b"{}"),
            "problem": done.stderr.decode()[-2000:],
            "seconds": used.ru_utime + used.ru_stime,
            "gigabytes": used.ru_maxrss / 1e6,
        }
        with os.fdopen(writer, "w") as stream:
            json.dump(facts, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        facts = json.load(stream)
    os.waitpid(pid, 0)
    if not facts["report"]:
        raise SystemExit(f"{name} {' '.join(options)} gave no report: {facts['problem']}")
    return facts["report"], facts["seconds"], facts["gigabytes"]


def sites(report: dict) -> set[tuple]:
    """Where a run saw breaks; empty with a run that failed is no agreement."""
    if report["run"]["status"] != "ok":
        raise SystemExit(f"a run failed: {report['errors']}")
    return {
        (finding["path"], finding["line"], *finding["dynamo"])
        for finding in report["findings"]
        if finding["kind"] == "break" and finding["evidence"] in ("confirmed", "observed")
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *TWINS])
    failed = False
    for name in parser.parse_args().names or TWINS:
        real, *_ = measured(TWINS[name], ["--no-vary"])
        wanted = sites(real)
        for passes, (most_seconds, most_gigabytes) in WANTED.items():
            options = [] if passes != "forward" else ["--no-backward"]
            report, seconds, gigabytes = measured(name, ["--fake", "--no-vary", *options])
            found = sites(report)
            billions = report["run"]["fake"]["elements"] / 1e9
            print(
                f"{name}, {billions:.1f} billion numbers, {passes}: {seconds:.1f} CPU s, "
                f"{gigabytes:.2f} GB; {len(found)} break sites, "
                + ("those" if found == wanted else "NOT those")
                + f" of {TWINS[name]} run with real tensors",
                flush=True,
            )
            if found != wanted:
                print(f"    missing {sorted(wanted - found)}, extra {sorted(found - wanted)}")
            failed |= found != wanted or seconds > most_seconds or gigabytes > most_gigabytes
    return int(failed)


if __name__ == "__main__":
    from result_file import run

    run(main, "fake-runs")
