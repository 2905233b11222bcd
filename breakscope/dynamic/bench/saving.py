"""What a step saves in another form, from rounds of both that were measured side by side in one
process."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from breakscope import limits
from breakscope.dynamic.bench.statistics import compare
from breakscope.report.bench import Saving
from breakscope.report.model import Cost, Finding, Interval

# of each the seconds of a step in its forms, the broken one first
Rounds = Sequence[Sequence[float]]


def saved(empty: Saving, rounds: Rounds, number: int = 1) -> Saving:
    """`empty` with the seconds per step that form `number` saves, or with the reason why none are
    claimed."""
    found = compare(
        [seconds[number] for seconds in rounds],
        [seconds[0] for seconds in rounds],
        limits.SMALLEST_NEAR_EFFECT,
    )
    if found is None:
        return msgspec.structs.replace(empty, problem="too few rounds were measured")
    ratio, interval, verdict = found
    if verdict not in ("faster", "slower"):
        return msgspec.structs.replace(empty, problem="smaller than the noise of this measurement")
    step = median(seconds[0] for seconds in rounds)
    return msgspec.structs.replace(
        empty,
        seconds=step * (1 - ratio),
        interval=Interval(low=step * (1 - interval.high), high=step * (1 - interval.low)),
    )


def cost_of_breaks(rounds: Rounds) -> Cost | None:
    """What all breaks of a step cost together; None when the noise is larger."""
    found = saved(Saving(mode="", sites=()), rounds)
    return (
        None
        if found.seconds is None
        else Cost(step_seconds=found.seconds, step_interval=found.interval)
    )


def with_step_cost(findings: Sequence[Finding], cost: Cost | None) -> tuple[Finding, ...]:
    """The findings, the break among them with its cost per step. Of several breaks only the sum is
    known, of none."""
    breaks = [finding for finding in findings if finding.kind == "break"]
    if cost is None or len(breaks) != 1:
        return tuple(findings)
    compiling = breaks[0].cost.compile_seconds if breaks[0].cost else None
    own = msgspec.structs.replace(cost, compile_seconds=compiling)
    return tuple(msgspec.structs.replace(f, cost=own) if f is breaks[0] else f for f in findings)
