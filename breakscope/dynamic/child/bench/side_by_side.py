"""Several forms of one step in one process, a few steps of each in turn.

Side by side in time and on the same weights, so that what else the machine does falls on both, and
differences show that two processes would hide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from types import ModuleType

import torch

from breakscope import limits
from breakscope.dynamic.child.bench import metrics, one_graph
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.bench.warm_up import warm_up
from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import TargetError


def without_breaks(
    stepper: Stepper, plain: Callable, compiled: Callable[[Callable], Callable], deadline: float
) -> Stepper:
    """The same step as one graph, compiled and warm.

    `plain` is the function of `stepper` before `compiled` was applied; raises TargetError when
    there is no such graph.
    """
    single = one_graph.traced(stepper, plain)
    single.function = compiled(single.function)
    before = len(metrics.all_compiles())
    try:
        calls = warm_up(single, [], deadline)
    except Exception as problem:  # a backend's own failure on a graph that the user never wrote
        words = " ".join(str(problem).partition("\n\n")[0].split())[:160]
        raise TargetError(
            f"the traced step does not compile: {type(problem).__name__}: {words}"
        ) from problem
    graphs = metrics.graphs(metrics.all_compiles()[before:])
    if graphs != 1:
        raise TargetError(
            "the traced step breaks too, so it shows nothing of a step without breaks"
            if graphs
            else "the traced step has no op that could be compiled"
        )
    if calls[-1]["compiles"]:
        raise TargetError("the traced step never stops compiling")
    return single


def of_run(module: ModuleType, plan: Plan, backend: str, deadline: float) -> list[list[float]]:
    """Rounds of a target's compiled step and of the same step as one graph, compiled afresh; none
    when nothing breaks.

    Raises TargetError when the step cannot be traced into one graph.
    """
    torch._dynamo.reset()
    metrics.keep_all()
    before = len(metrics.all_compiles())
    stepper = Stepper.build(module, plan)
    plain, compiled = stepper.function, partial(torch.compile, backend=backend)
    stepper.function = compiled(plain)
    warm_up(stepper, [], deadline)
    if not any(map(metrics.is_broken, metrics.all_compiles()[before:])):
        return []
    return in_turns([stepper, without_breaks(stepper, plain, compiled, deadline)], deadline)


def other_target(
    module: ModuleType, plan: Plan, compiled: Callable[[Callable], Callable], deadline: float
) -> Stepper:
    """Another target, compiled and warm."""
    other = Stepper.build(module, plan)
    other.function = compiled(other.function)
    warm_up(other, [], deadline)
    return other


def in_turns(steppers: Sequence[Stepper], deadline: float) -> list[list[float]]:
    """Rounds; in each the median seconds of a block of each stepper. A block's first step warms the
    caches and is left out; every second round goes backwards."""
    sides = [(stepper, _block(stepper)) for stepper in steppers]
    found: list[list[float]] = []
    end = min(deadline, time.time() + limits.MOST_NEAR_SECONDS)
    while len(found) < limits.MOST_NEAR_ROUNDS and time.time() < end:
        turn = -1 if len(found) % 2 else 1
        found.append([_seconds(*side) for side in sides[::turn]][::turn])
    return found


def _seconds(stepper: Stepper, steps: int) -> float:
    return median([stepper.timed()[1] for _ in range(steps + 1)][1:])


def _block(stepper: Stepper) -> int:
    """Steps in a block: whole turns through the calls."""
    step = median(stepper.timed()[1] for _ in range(3))
    wanted = min(
        limits.LONGEST_NEAR_BLOCK,
        max(limits.SHORTEST_NEAR_BLOCK, round(limits.NEAR_BLOCK_SECONDS / max(step, 1e-9))),
    )
    return -(-wanted // stepper.turn) * stepper.turn
