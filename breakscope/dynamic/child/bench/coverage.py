"""Compile coverage: the share of op time that lies inside captured graphs.

Measured with graphs that run their ops one by one (the backend below), so that every op has the
time it takes in eager and the share does not depend on what a backend makes of a graph. A backward
op belongs where its forward op belongs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from breakscope import limits
from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.bench import metrics
from breakscope.dynamic.child.bench.stepper import LOSS, Stepper
from breakscope.dynamic.child.bench.warm_up import warm_up
from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import Target, TargetError

GRAPH = "breakscope: a graph"
ENGINE = "autograd::engine::evaluate_function: "
UNSTEADY = "its ops' times vary too much from step to step"


def marked(graph: torch.fx.GraphModule, inputs: list) -> Callable:
    """A backend of torch.compile: the graph as it is, with a mark around it for the profiler; node
    by node while host syncs are listened to, so that each has its line."""

    def run(*args):
        if torch.cuda.is_initialized() and torch.cuda.get_sync_debug_mode():
            return torch.fx.Interpreter(graph).run(*args)
        with record_function(GRAPH) if torch.autograd._profiler_enabled() else nullcontext():
            return graph(*args)

    return run


def measure(module: ModuleType, plan: Plan, deadline: float) -> dict:
    """The share by time and by number of ops, and the most expensive ops outside of graphs."""
    stepper = Stepper.build(module, plan)
    stepper.function = torch.compile(stepper.function, backend=marked)
    tensors.seed_everything()
    metrics.keep_all()
    warm_up(stepper, [], deadline)
    before = metrics.count()
    found = profiled(stepper.timed, stepper.turn, plan.device)
    if metrics.count() != before:
        raise TargetError("the step never stops compiling")
    if not found.pop("steady"):
        raise TargetError(UNSTEADY)
    return found


def of_run(
    function: Callable, target: Target, plan: Plan, deadline: float
) -> tuple[float | None, int]:
    """The share of op time of a target that a run has compiled with `marked`, once it compiles
    nothing more (None when its step runs no op, never stops compiling, or takes no steady times),
    and the number of calls up to the last compile on the way there."""
    stepper = Stepper.of(target, [(target.args, target.kwargs)], plan)
    stepper.function = function
    metrics.keep_all()
    # what still compiles would put its own ops into the profile
    calls = warm_up(stepper, [], deadline, least=0)
    before = metrics.count()
    found = profiled(stepper.timed, stepper.turn, plan.device)
    compiled = max((number for number, call in enumerate(calls, 1) if call["compiles"]), default=0)
    return (found["share"] if metrics.count() == before and found["steady"] else None), compiled


def profiled(step: Callable[[], object], turn: int, device: torch.device) -> dict:
    """Run all calls under the profiler, until two halves of the turns agree: the
    share by time and by number of ops, the most expensive ops outside.

    An op counts with its shortest time: on a busy machine a single pause lasts longer than all the
    ops of a small model. `steady` is False where not even the most turns agree, or where not every turn
    runs the same ops.
    """
    turns: list[list[TimedOp]] = []
    while len(turns) < limits.COVERAGE_TURNS or not _agree(turns):
        if len(turns) == limits.MOST_COVERAGE_TURNS or not _same_ops(turns):
            return share_out(turns[-1]) | {"steady": False}
        turns += [_profiled_once(step, turn, device) for _ in range(2)]
    return share_out(shortest(turns)) | {"steady": True}


def _profiled_once(step: Callable[[], object], turn: int, device: torch.device) -> list[TimedOp]:
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
    with profile(activities=activities) as seen:
        for _ in range(turn):
            step()
    return timed_ops(seen.events(), device.type == "cuda")


def _same_ops(turns: list[list[TimedOp]]) -> bool:
    return len({tuple((op.name, op.inside) for op in ops) for ops in turns}) < 2


def _agree(turns: list[list[TimedOp]]) -> bool:
    if not _same_ops(turns):
        return False
    one, other = (share_out(shortest(turns[first::2]))["share"] or 0.0 for first in (0, 1))
    return abs(one - other) <= limits.STEADY_SHARE


@dataclass(frozen=True)
class TimedOp:
    """An outermost op of the program's: inside of a graph or not, and its seconds."""

    name: str
    inside: bool
    seconds: float


def shortest(turns: Iterable[list[TimedOp]]) -> list[TimedOp]:
    """The ops of turns that run the same ones, each with the least of its times."""
    return [min(same, key=lambda op: op.seconds) for same in zip(*turns, strict=True)]


def timed_ops(events: Iterable, on_gpu: bool) -> list[TimedOp]:
    """The outermost ops in order; `on_gpu` takes the time on the device."""
    ops = sorted(
        (e for e in events if _is_op(e.name) and not _inside_op(e)),
        key=lambda e: e.time_range.start,
    )
    inside: dict[int, bool | None] = {}
    for op in ops:
        where = _forward_place(op)
        if op.sequence_nr >= 0 and _engine(op) is None:
            # of ops with one number only the last one has a gradient
            inside[op.sequence_nr] = where
    found = []
    for op in ops:
        engine = _engine(op)
        where = _forward_place(op) if engine is None else inside.get(engine.sequence_nr)
        if where is not None:  # the loss, or a gradient put into .grad: no op of the program's
            found.append(
                TimedOp(
                    op.name, where, (op.device_time_total if on_gpu else op.cpu_time_total) / 1e6
                )
            )
    return found


def share_out(ops: Iterable[TimedOp]) -> dict:
    """Sums of ops inside and outside of graphs."""
    seconds, numbers, outside = {True: 0.0, False: 0.0}, {True: 0, False: 0}, defaultdict(float)
    for op in ops:
        seconds[op.inside] += op.seconds
        numbers[op.inside] += 1
        if not op.inside:
            outside[op.name] += op.seconds
    total, number = sum(seconds.values()), sum(numbers.values())
    return {
        "share": seconds[True] / total if total else None,
        "ops_share": numbers[True] / number if number else None,
        "compiled_ops": numbers[True],
        "eager_ops": numbers[False],
        "eager_top": sorted(outside, key=outside.get, reverse=True)[: limits.MOST_EAGER_OPS],
    }


def _is_op(name: str) -> bool:
    return (
        "::" in name
        and not name.startswith(("autograd::", "torch::autograd", "cuda", "profiler::"))
        and " " not in name
    )


def _inside_op(event) -> bool:
    parent = event.cpu_parent
    while parent is not None:
        if _is_op(parent.name):
            return True
        parent = parent.cpu_parent
    return False


def _engine(event):
    """The autograd node that runs the op, None in a forward pass."""
    parent = event.cpu_parent
    while parent is not None:
        if parent.name.startswith(ENGINE):
            return parent
        parent = parent.cpu_parent
    return None


def _forward_place(event) -> bool | None:
    """True inside a graph, False outside, None inside the loss that the measurement adds."""
    parent = event.cpu_parent
    while parent is not None:
        if parent.name == GRAPH:
            return True
        if parent.name == LOSS:
            return None
        parent = parent.cpu_parent
    return False
