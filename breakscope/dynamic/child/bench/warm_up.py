"""Steps until nothing compiles any more."""

from __future__ import annotations

import time

from breakscope import limits
from breakscope.dynamic.child.bench import metrics
from breakscope.dynamic.child.bench.stepper import Stepper


def warm_up(
    stepper: Stepper, calls: list[dict], deadline: float, least: int = limits.FEWEST_WARM_STEPS
) -> list[dict]:
    """Appends to `calls` the wall seconds and compiles of each step, until it is warm, bound by
    limits.MOST_WARM_TURNS and by `deadline`."""
    turn = stepper.turn
    quiet = 0
    while (
        (quiet < limits.QUIET_TURNS * turn or len(calls) < least + turn)
        and len(calls) < limits.MOST_WARM_TURNS * turn
        and time.time() < deadline
    ):
        before, began = metrics.count(), time.time()
        seconds, _ = stepper.timed()
        compiled = metrics.count() - before
        calls.append({"seconds": seconds, "compiles": compiled, "begin": began})
        quiet = 0 if compiled else quiet + 1
    return calls
