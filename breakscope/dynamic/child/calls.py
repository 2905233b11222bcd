"""Making the calls: the same sequence for the eager reference and for Dynamo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import torch

from breakscope import limits
from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.load import Target, argument_tuples, look_up, resolve
from breakscope.texts import exception_text

# times the batch: the first makes the size dynamic, the second shows whether it stays so
BATCHES = (2, 3)


class Fake(Protocol):
    """What a fake run does beside the calls."""

    def begin_call(self) -> None: ...

    def place(self, target: Target, device: torch.device) -> Target: ...


@dataclass(frozen=True)
class Plan:
    """Which calls to make: those of `calls` or `drive`, else the factory's arguments, then another
    batch size."""

    name: str
    calls: str
    drive: str
    vary: int  # how many other batch sizes
    backward: bool
    device: torch.device
    limit: int | None = None  # leave off after this many calls: those that worked in eager
    # calls, from 0 on, whose backward fails in eager too
    forward_only: frozenset[int] = frozenset()
    fake: Fake | None = None  # of a fake run
    tried: bool = True  # False where nothing could be called without torch.compile


@dataclass
class Made:
    """What has been done so far; kept when a call raises."""

    calls: int = 0
    backward: int = 0
    varied: int = 0  # calls with another batch size
    notes: list[str] = field(default_factory=list)
    forward_only: set[int] = field(default_factory=set)  # calls whose backward failed


class Enough(BaseException):
    """Raised inside `drive` when as many calls were made as the eager reference managed."""


def build(module: ModuleType, plan: Plan) -> Target:
    """A fresh target on its device, under fixed seeds."""
    tensors.seed_everything()
    target = resolve(module, plan.name, bool(plan.calls or plan.drive))
    if plan.fake is not None:
        return plan.fake.place(target, plan.device)
    args, kwargs = tensors.move_values((target.args, target.kwargs), plan.device)
    return Target(tensors.move_function(target.function, plan.device), args, kwargs)


def make_calls(
    module: ModuleType,
    target: Target,
    function: Callable,
    plan: Plan,
    made: Made,
    mark: Callable[[str, int], None],
    strict: bool,
) -> None:
    """Call `function` (the target itself, or its compiled form) as the plan has it.

    `mark(what, call)` is called before every step. With `strict` a failing backward or varied call
    raises; without it the failure becomes a note, and the step is left out of the compiled run too.
    """
    step = "call"

    def call(*args: Any, **kwargs: Any) -> Any:
        if plan.limit is not None and made.calls >= plan.limit:
            raise Enough
        args, kwargs = tensors.move_values((args, kwargs), plan.device)
        mark(step, made.calls)
        if plan.fake is not None:
            plan.fake.begin_call()
        output = function(*args, **kwargs)
        _wait_for_device(plan.device)
        made.calls += 1
        return output

    def call_with_backward(args: tuple, kwargs: dict) -> None:
        output = call(*args, **kwargs)
        if plan.backward and made.calls - 1 not in plan.forward_only:
            run_backward(output, target, (args, kwargs), plan, made, mark, strict)

    tensors.seed_everything()
    if plan.drive:
        try:
            look_up(module, plan.drive, " for --drive")(call, target.function)
        except Enough:
            pass
        return
    if plan.calls:
        sequence = argument_tuples(module, plan.calls)
    else:
        sequence = [(target.args, target.kwargs)] * limits.SAME_CALLS
    for args, kwargs in sequence[: plan.limit]:
        call_with_backward(args, kwargs)
    for times in BATCHES[: plan.vary] if not plan.calls else ():
        step = "call" if made.varied else "varied"
        if not _vary(call_with_backward, target, times, made, strict, plan.tried):
            break


def run_backward(
    output: Any,
    target: Target,
    arguments: Any,
    plan: Plan,
    made: Made,
    mark: Callable,
    strict: bool,
) -> None:
    try:
        loss = tensors.form_loss(output)
        if loss is None:
            return
        mark("backward", made.calls - 1)
        with tensors.gradients_put_back(target.function, arguments):
            loss.backward()
        _wait_for_device(plan.device)
        made.backward += 1
    except Exception as problem:
        if strict:
            raise
        if not made.forward_only:
            made.notes.append(
                f"backward left out: it fails without torch.compile too ({exception_text(problem)})"
            )
        made.forward_only.add(made.calls - 1)


def _vary(
    call_with_backward: Callable,
    target: Target,
    times: int,
    made: Made,
    strict: bool,
    tried: bool,
) -> bool:
    """One call with a larger batch; False when there is none that works."""
    wider = tensors.another_batch(target.args, target.kwargs, times)
    if wider is None:
        made.notes.append(
            "no call with another batch size: no argument is a tensor with a first dimension"
        )
        return False
    try:
        call_with_backward(*wider)
    except Exception as problem:
        if strict and tried:
            raise
        which = "a third" if made.varied else "another"
        where = "it fails without torch.compile too" if tried else "it fails"
        made.notes.append(f"no call with {which} batch size: {where} ({exception_text(problem)})")
        return False
    made.varied += 1
    return True


def _wait_for_device(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
