"""Steps until nothing compiles any more."""

from __future__ import annotations

import time

from breakscope.dynamic.child.bench import metrics
from breakscope.dynamic.child.bench.stepper import Stepper

LEAST, MOST = 6, 60  # steps beside one turn at least; turns through all calls at most
QUIET = 3  # turns without a compile before it counts as warm


def warm_up(stepper: Stepper, calls: list[dict], deadline: float, least: int = LEAST) -> list[dict]:
    """Appends to `calls` the wall seconds and compiles of each step, until it is warm, bound by
    MOST and by `deadline`."""
    turn = stepper.turn
    quiet = 0
    while (
        (quiet < QUIET * turn or len(calls) < least + turn)
        and len(calls) < MOST * turn
        and time.time() < deadline
    ):
        before, began = metrics.count(), time.time()
        seconds, _ = stepper.timed()
        compiled = metrics.count() - before
        calls.append({"seconds": seconds, "compiles": compiled, "begin": began})
        quiet = 0 if compiled else quiet + 1
    return calls
