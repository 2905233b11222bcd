#!/usr/bin/env python3
"""Predicted against really saved step time: break_cost.py [--folder FOLDER] [NAME ...]

FOLDER (`breaks` beside this script) holds models in two forms, one whose compiled graph breaks and
one that does the same work without breaks: a file NAME.py with the factories `broken()` and
`fixed()`, or two files, NAME.py and NAME_clean.py, with `make()`. What `breakscope bench` predicts
that a step of the broken one would save without breaks is the difference between it and the same
step as one graph; what fixing really saves, between it and the fixed one. The three are compiled
in one process and step in turns.

Printed for each model: both, with intervals, and the prediction's error relative to the real
saving; then the median error and the rank correlation. A model counts only when the real saving is
larger than the noise of its measurement. What a fixed form does in another way (a mask instead of
indices, both arms of a branch) is part of the error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.dynamic.bench.options import BenchOptions
from breakscope.dynamic.bench.saving import saved
from breakscope.dynamic.bench.statistics import rank_correlation
from breakscope.dynamic.bench.worker import Worker, WorkerError, worker_folder
from breakscope.report.bench import Interval, Saving


@dataclass(frozen=True)
class Pair:
    """A model with breaks and the same without, each a file and the name of its factory."""

    name: str
    broken: tuple[Path, str]
    fixed: tuple[Path, str]


@dataclass(frozen=True)
class Saved:
    """Seconds per step with an interval; `seconds` None when nothing was measured, `why` then says
    why."""

    seconds: float | None = None
    interval: Interval | None = None
    why: str = ""

    def text(self) -> str:
        if self.seconds is None or self.interval is None:
            return f"- ({self.why})"
        low, high = (value * 1e6 for value in (self.interval.low, self.interval.high))
        return f"{self.seconds * 1e6:.0f} us ({low:.0f} to {high:.0f})"


def pairs_of(folder: Path) -> list[Pair]:
    found = []
    for file in sorted(folder.glob("*.py")):
        clean, text = file.with_name(f"{file.stem}_clean.py"), file.read_text(encoding="utf-8")
        if clean.is_file():
            found.append(Pair(file.stem, (file, "make"), (clean, "make")))
        elif "\ndef broken(" in text and "\ndef fixed(" in text:
            found.append(Pair(file.stem, (file, "broken"), (file, "fixed")))
    return found


def asked(target: tuple[Path, str], options: argparse.Namespace, caches: str) -> BenchOptions:
    return BenchOptions(
        file=str(target[0]),
        name=target[1],
        backend=options.backend,
        device=options.device,
        backward=not options.no_backward,
        timeout=options.timeout,
        caches=caches,
    )


def measured(pair: Pair, options: argparse.Namespace, caches: str) -> tuple[Saved, Saved, float]:
    """What `bench` predicts, what fixing saves, and the seconds of a broken step; all forms in
    turns."""
    deadline = time.time() + options.timeout
    fixed = {"file": str(pair.fixed[0].resolve()), "name": pair.fixed[1]}
    with tempfile.TemporaryDirectory(prefix="breakscope-", ignore_cleanup_errors=True) as parent:
        folder = worker_folder(parent, "default")
        with Worker(
            "default", asked(pair.broken, options, caches), folder, Path(parent) / "none", deadline
        ) as worker:
            try:
                worker.answer(deadline)
                rounds = worker.send(deadline, do="beside", others=[{}, fixed])
            except WorkerError as problem:
                return Saved(why=str(problem)), Saved(why="not measured"), 0.0
    return claim(rounds, 1), claim(rounds, 2), median(seconds[0] for seconds in rounds)


def claim(rounds: list[list[float]], number: int) -> Saved:
    found = saved(Saving(mode="default", sites=()), rounds, number)
    return Saved(found.seconds, found.interval, found.problem)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent / "breaks")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each measurement")
    parser.add_argument("--no-backward", action="store_true")
    options = parser.parse_args()
    pairs = [
        pair for pair in pairs_of(options.folder) if not options.names or pair.name in options.names
    ]
    if not pairs:
        print(f"no pairs of models in {options.folder}", file=sys.stderr)
        return 2
    compared = []
    with tempfile.TemporaryDirectory(prefix="breakscope-", ignore_cleanup_errors=True) as caches:
        for pair in pairs:
            guess, real, before = measured(pair, options, caches)
            line = f"{pair.name:22} predicted {guess.text():36} really {real.text():36}"
            line += f" of {before * 1e6:6.0f} us"
            if guess.seconds is not None and real.seconds is not None:
                compared.append((guess.seconds, real.seconds))
                line += f" error {(guess.seconds - real.seconds) / abs(real.seconds):+.0%}"
            print(line.rstrip(), flush=True)
    if compared:
        rank = rank_correlation(*zip(*compared, strict=True))
        error = median(abs(guess - real) / abs(real) for guess, real in compared)
        print(
            f"{len(compared)} of {len(pairs)} models compared: median error {error:.0%}, rank correlation "
            + (f"{rank:.2f}" if rank is not None else "not defined")
        )
    return 0


if __name__ == "__main__":
    from result_file import run

    run(main, "break-cost")
