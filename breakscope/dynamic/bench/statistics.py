"""Step times into claims: medians, a bootstrap interval, a sign test. Pure Python, the same numbers
for the same input."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import StatisticsError, correlation, median

from breakscope import limits
from breakscope.report.bench import Interval


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed; raises ValueError
    without values."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def interval_of(values: Sequence[float]) -> Interval:
    """The bootstrap's 95 % interval of the median of the values."""
    source = random.Random(0)
    found = sorted(median(source.choices(values, k=len(values))) for _ in range(limits.RESAMPLES))
    return Interval(
        low=found[int(0.025 * limits.RESAMPLES)], high=found[int(0.975 * limits.RESAMPLES) - 1]
    )


def sign_test(differences: Sequence[float]) -> float:
    """The two-sided probability of signs at least this uneven when there is no difference; zeros
    are left out."""
    ups, downs = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    number = ups + downs
    if not number:
        return 1.0
    tail = sum(math.comb(number, k) for k in range(max(ups, downs), number + 1))
    return min(1.0, 2 * tail / 2**number)


def ratios(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """`first` over `second`, round by round; rounds are paired because they lie side by side in
    time."""
    return [a / b for a, b in zip(first, second, strict=False) if b > 0]


def compare(
    first: Sequence[float], second: Sequence[float], least: float = limits.SMALLEST_EFFECT
) -> tuple[float, Interval, str] | None:
    """(ratio, interval, verdict) of `first` against `second`, each one number for a round; None
    with too few rounds.

    "faster" or "slower" only when the interval leaves out 1, the sign test agrees, and the
    effect is larger than `least`: what two processes running the same code differ by. "too noisy to
    tell" when nothing is sure and the interval is wide, or when the ratio of the medians is another
    than that of the rounds.
    """
    pairs = ratios(first, second)
    if len(pairs) < limits.FEWEST_ROUNDS:
        return None
    ratio, interval = median(pairs), interval_of(pairs)
    sure = sign_test([p - 1 for p in pairs]) <= 0.05 and abs(ratio - 1) >= least
    half = (interval.high - interval.low) / 2 / ratio
    apart = abs(median(first) / median(second) / ratio - 1) if median(second) else 0.0
    verdict = "no difference measured"
    if apart > max(half, limits.WIDEST_INTERVAL):
        verdict = "too noisy to tell"
    elif sure and interval.high < 1:
        verdict = "faster"
    elif sure and interval.low > 1:
        verdict = "slower"
    elif half > limits.WIDEST_INTERVAL:
        verdict = "too noisy to tell"
    return ratio, interval, verdict


def noise(rounds: Sequence[float]) -> float | None:
    """By what share of it a round differs from the one before, in the median; None of one round."""
    steps = [abs(b / a - 1) for a, b in pairwise(rounds) if a > 0]
    return median(steps) if steps else None


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, ties at their mean rank; None when one side has a single rank or there are fewer
    than three pairs."""
    if len(first) < 3 or len(first) != len(second):
        return None
    try:
        return correlation(_ranks(first), _ranks(second))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    return [order.index(v) + (order.count(v) + 1) / 2 for v in values]
