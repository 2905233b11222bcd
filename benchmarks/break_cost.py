#!/usr/bin/env python3
"""Predicted against really saved step time: break_cost.py FOLDER [NAME ...]

FOLDER holds models in two forms: NAME.py, whose compiled graph breaks, and NAME_clean.py, the same work without breaks,
each with a factory `make()`. `breakscope bench NAME.py::make` predicts what a step without breaks would save; then the
compiled steps of both forms are timed in turns, and their difference is what really was saved.

Printed for each model: both, with intervals, and the prediction's error relative to the real saving; then the median
error and the rank correlation. A model counts only when the real saving is larger than the noise of its measurement. What
a mended form does in another way (a mask instead of a loop, an added output) is part of the error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.dynamic.bench import BenchOptions, bench_target
from breakscope.dynamic.bench.statistics import rank_correlation
from breakscope.dynamic.bench.turns import against, block_length, in_turns
from breakscope.dynamic.bench.worker import Worker, WorkerError, worker_folder
from breakscope.report.bench import Interval


@dataclass(frozen=True)
class Saved:
    """Seconds per step with an interval; `seconds` None when nothing was measured, `why` then says why."""

    seconds: float | None = None
    interval: Interval | None = None
    why: str = ""

    def text(self) -> str:
        if self.seconds is None or self.interval is None:
            return f"- ({self.why})"
        low, high = (value * 1e6 for value in (self.interval.low, self.interval.high))
        return f"{self.seconds * 1e6:.0f} us ({low:.0f} to {high:.0f})"


def predicted(file: Path, options: argparse.Namespace) -> Saved:
    found = bench_target(BenchOptions(file=str(file), name="make", backend=options.backend, rounds=options.rounds,
                                      backward=not options.no_backward, coverage=False, device=options.device,
                                      timeout=options.timeout))
    if found.saving is None:
        return Saved(why=found.errors[0].message if found.errors else "no break seen")
    return Saved(found.saving.seconds, found.saving.interval, found.saving.problem)


def really(broken: Path, mended: Path, options: argparse.Namespace) -> Saved:
    """The compiled steps of both forms in turns."""
    deadline = time.time() + options.timeout
    with tempfile.TemporaryDirectory(prefix="breakscope-", ignore_cleanup_errors=True) as parent, ExitStack() as stack:
        workers = []
        for file in (broken, mended):
            asked = BenchOptions(file=str(file), name="make", backend=options.backend, backward=not options.no_backward,
                                 device=options.device, timeout=options.timeout)
            worker = stack.enter_context(
                Worker("default", asked, worker_folder(parent, file.stem), Path(parent) / "none", deadline))
            worker.mode = file.stem
            try:
                said = worker.answer(deadline)
            except WorkerError as problem:
                return Saved(why=str(problem))
            workers.append(worker)
        step = median(call["seconds"] for call in said["calls"])
        rounds, _ = in_turns(workers, options.rounds, block_length(step, 1), deadline)
    found = against(rounds[mended.stem], rounds[broken.stem]) if len(rounds) == 2 else None
    if found is None:
        return Saved(why="too few rounds")
    ratio, interval, verdict = found
    if verdict == "no difference measured":
        return Saved(why="smaller than the noise")
    before = median(seconds for block in rounds[broken.stem] for seconds in block)
    return Saved(before * (1 - ratio), Interval(low=before * (1 - interval.high), high=before * (1 - interval.low)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each measurement")
    parser.add_argument("--no-backward", action="store_true")
    options = parser.parse_args()
    twins = [(file, file.with_name(f"{file.stem}_clean.py")) for file in sorted(options.folder.glob("*.py"))]
    twins = [(b, m) for b, m in twins if m.is_file() and (not options.names or b.stem in options.names)]
    if not twins:
        print(f"no NAME.py with a NAME_clean.py in {options.folder}", file=sys.stderr)
        return 2
    pairs = []
    for broken, mended in twins:
        guess, real = predicted(broken, options), really(broken, mended, options)
        line = f"{broken.stem:16} predicted {guess.text():36} really {real.text():36}"
        if guess.seconds is not None and real.seconds is not None:
            pairs.append((guess.seconds, real.seconds))
            line += f" error {abs(guess.seconds - real.seconds) / abs(real.seconds):.0%}"
        print(line.rstrip(), flush=True)
    if pairs:
        rank = rank_correlation(*zip(*pairs, strict=True))
        error = median(abs(guess - real) / abs(real) for guess, real in pairs)
        print(f"{len(pairs)} of {len(twins)} models compared: median error {error:.0%}, rank correlation "
              + (f"{rank:.2f}" if rank is not None else "not defined"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
