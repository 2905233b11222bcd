#!/usr/bin/env python3
"""What each of several breaks costs, predicted and really saved: each_break.py [--folder FOLDER]
[NAME ...]

FOLDER (`several` beside this script) holds models with several breaks: the factory `broken()`,
lines that end in `# break N`, and for each a factory `without_N()` of the same model with that
break fixed by hand. What `breakscope run --peel` says that break N costs per step is compared with
what a step of `without_N()` really saves, measured beside `broken()` in one process, in turns. A
break counts where both are larger than the noise.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.dynamic import RunOptions, run_fully
from breakscope.dynamic.bench.options import BenchOptions
from breakscope.dynamic.bench.saving import saved
from breakscope.dynamic.bench.statistics import rank_correlation
from breakscope.dynamic.bench.worker import Worker, worker_folder
from breakscope.report.bench import Saving
from breakscope.report.model import Cost, Interval

MARK = re.compile(r"# break (\d+)$")


def predicted(file: Path, options: argparse.Namespace) -> tuple[dict[int, Cost], tuple[str, ...]]:
    """The cost of each break by its number, and the notes of the run."""
    ran = run_fully(
        RunOptions(
            file=str(file),
            name="broken",
            backend=options.backend,
            device="cpu",
            vary=False,
            explain=False,
            timeout=options.timeout,
            peel=4,
        )
    )
    lines = file.read_text(encoding="utf-8").splitlines()
    found = {
        int(mark[1]): f.cost
        for f in ran.findings
        if f.kind == "break" and (mark := MARK.search(lines[f.line - 1]))
    }
    return {
        number: cost for number, cost in found.items() if cost and cost.step_seconds is not None
    }, ran.run.notes


def really(file: Path, numbers: list[int], options: argparse.Namespace) -> dict[int, Saving]:
    """What a step of each fixed form saves."""
    deadline = time.time() + options.timeout
    asked = BenchOptions(
        file=str(file),
        name="broken",
        backend=options.backend,
        device="cpu",
        timeout=options.timeout,
    )
    with tempfile.TemporaryDirectory(prefix="breakscope-", ignore_cleanup_errors=True) as parent:
        folder = worker_folder(parent, "default")
        with Worker("default", asked, folder, Path(parent) / "none", deadline) as worker:
            worker.answer(deadline)
            others = [
                {"file": str(file.resolve()), "name": f"without_{number}"} for number in numbers
            ]
            rounds = worker.send(deadline, do="beside", others=others)
    return {
        number: saved(Saving(mode="default", sites=()), rounds, place)
        for place, number in enumerate(numbers, 1)
    }


def text(seconds: float | None, interval: Interval | None) -> str:
    if seconds is None or interval is None:
        return "below the noise"
    return f"{seconds * 1e6:.0f} us ({interval.low * 1e6:.0f} to {interval.high * 1e6:.0f})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent / "several")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each measurement")
    options = parser.parse_args()
    files = [
        file
        for file in sorted(options.folder.glob("*.py"))
        if not options.names or file.stem in options.names
    ]
    if not files:
        print(f"no models in {options.folder}", file=sys.stderr)
        return 2
    compared: list[tuple[float, float]] = []
    for file in files:
        guesses, notes = predicted(file, options)
        numbers = sorted(
            {
                int(n)
                for n in re.findall(
                    r"# break (\d+)$", file.read_text(encoding="utf-8"), re.MULTILINE
                )
            }
        )
        truth = really(file, numbers, options)
        for number in numbers:
            guess, real = guesses.get(number), truth[number]
            line = (
                f"{file.stem:20} {number}: predicted {text(guess and guess.step_seconds, guess and guess.step_interval):30} "
                f"really {text(real.seconds, real.interval):30}"
            )
            if guess is not None and real.seconds is not None:
                compared.append((guess.step_seconds, real.seconds))
                line += f" error {(guess.step_seconds - real.seconds) / abs(real.seconds):+.0%}"
            print(line.rstrip(), flush=True)
        for note in notes:
            print(f"    {note}")
    if compared:
        rank = rank_correlation(*zip(*compared, strict=True))
        error = median(abs(guess - real) / abs(real) for guess, real in compared)
        print(
            f"{len(compared)} breaks compared: median error {error:.0%}, rank correlation "
            + (f"{rank:.2f}" if rank is not None else "not defined")
        )
    return 0


if __name__ == "__main__":
    from result_file import run

    run(main, "each-break")
