"""Steady-state steps in turns: A B C, C B A, A B C, ... so that what changes over time falls on all
modes alike."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from statistics import median

from breakscope import limits
from breakscope.dynamic.bench.statistics import compare, noise, percentile
from breakscope.dynamic.bench.worker import Worker, WorkerError
from breakscope.report.bench import Steps

Rounds = list[list[float]]  # the step seconds of each round


def block_length(step_seconds: float, turn: int) -> int:
    """Steps in a block: enough for a steady median, and whole turns through the calls."""
    wanted = min(
        limits.LONGEST_BLOCK,
        max(limits.SHORTEST_BLOCK, math.ceil(limits.BLOCK_SECONDS / max(step_seconds, 1e-9))),
    )
    return math.ceil(wanted / turn) * turn


def in_turns(
    workers: Sequence[Worker], rounds: int, block: int, deadline: float
) -> tuple[dict[str, Rounds], dict[str, WorkerError]]:
    """The rounds of each mode, as many for each as all had time for; and why a mode dropped out.

    The first step of a block is left out: it pays for the caches that the mode before it filled.
    """
    seen: dict[str, Rounds] = {worker.mode: [] for worker in workers}
    dropped: dict[str, WorkerError] = {}
    for number in range(rounds):
        began = time.time()
        for worker in workers if number % 2 == 0 else reversed(workers):
            if worker.mode in dropped:
                continue
            try:
                seen[worker.mode].append(worker.send(deadline, do="step", steps=block + 1)[1:])
            except WorkerError as problem:
                dropped[worker.mode] = problem
        if time.time() + 1.5 * (time.time() - began) > deadline:
            break
    return {mode: found for mode, found in seen.items() if mode not in dropped}, dropped


def describe(rounds: Rounds, eager: Rounds | None) -> Steps:
    """The median of the rounds' medians, the 95th percentile of all steps, and the comparison with
    eager round by round."""
    steps = [seconds for block in rounds for seconds in block]
    found = compare(_medians(rounds), _medians(eager)) if eager is not None else None
    ratio, interval, verdict = found or (None, None, "")
    return Steps(
        steps=len(steps),
        rounds=len(rounds),
        median_seconds=median(_medians(rounds)),
        p95_seconds=percentile(steps, 0.95),
        ratio=ratio,
        ratio_interval=interval,
        verdict=verdict,
        noise=noise(_medians(rounds)),
    )


def against(first: Rounds, second: Rounds):
    """`statistics.compare` on the medians of the rounds."""
    return compare(_medians(first), _medians(second))


def _medians(rounds: Rounds) -> list[float]:
    return [median(block) for block in rounds]
