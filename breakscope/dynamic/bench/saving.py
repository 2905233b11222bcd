"""What a step saves in another form, from rounds of both that were measured side by side in one process."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from breakscope.dynamic.bench.statistics import compare
from breakscope.report.bench import Interval, Saving

LEAST_EFFECT = 0.005  # the same step traced twice, side by side in one process, differs by less


def saved(empty: Saving, rounds: Sequence[Sequence[float]], number: int = 1) -> Saving:
    """`empty` with the seconds per step that form `number` of a round saves, or with the reason why none are claimed."""
    found = compare([seconds[number] for seconds in rounds], [seconds[0] for seconds in rounds], LEAST_EFFECT)
    if found is None:
        return msgspec.structs.replace(empty, problem="too few rounds were measured")
    ratio, interval, verdict = found
    if verdict == "no difference measured":
        return msgspec.structs.replace(empty, problem="smaller than the noise of this measurement")
    step = median(seconds[0] for seconds in rounds)
    return msgspec.structs.replace(
        empty, seconds=step * (1 - ratio),
        interval=Interval(low=step * (1 - interval.high), high=step * (1 - interval.low)))
