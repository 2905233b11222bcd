"""One variation after the other: Dynamo is reset, the target is built again and called, and then
called otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch
import torch._dynamo

from breakscope import limits
from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.calls import Fake, Made, Plan, build, run_backward
from breakscope.dynamic.child.load import Target, argument_tuples, load_file
from breakscope.dynamic.child.radar.dimensions import batch, sequence
from breakscope.dynamic.child.radar.state import State
from breakscope.dynamic.child.radar.variations import SAME, Step, Variation, owner, variations
from breakscope.dynamic.child.self_test import self_test
from breakscope.dynamic.child.settings import check_backend, limit_memory, pick_device
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.texts import exception_text


def serve(job: dict, folder: Path, progress: Progress, fake: Fake | None = None) -> None:
    """Make every variation, and note what was made."""
    try:
        device, _ = stage(progress, "options", lambda: pick_device(job["device"]))
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        plan = Plan(job["name"], job["calls"], "", 0, job["backward"], device, fake=fake)
        limit_memory(job, device)
        self_test(progress, "self-test")
        stage(progress, "radar", lambda: _scan(module, plan, job, progress))
    except Stopped:
        pass
    progress.note("done")


def _scan(module: ModuleType, plan: Plan, job: dict, progress: Progress) -> None:
    target = _target(module, plan)
    found = batch(target.function, target.args, target.kwargs, job["batch_dim"])
    second = sequence(
        target.function,
        target.args,
        target.kwargs,
        job["sequence_dim"],
        0 if job["batch_dim"] is None else job["batch_dim"],
    )
    progress.note(
        "dimensions",
        batch=found.text if found else "",
        batch_size=found.size if found else 0,
        sequence=second.text if second else "",
        sequence_size=second.size if second else 0,
        sequence_is=second.kind if second else "sequence",
    )
    slowest = 0.0  # seconds of a call, compiling and all
    for number, variation in enumerate(variations(target, found, second, plan.device)):
        began = time.time()
        if job["deadline"] - began < limits.FEWEST_SECONDS + slowest * limits.FEWEST_CALLS:
            progress.note(
                "variation",
                number=number,
                name=variation.name,
                base=variation.base,
                steps=[],
                refused=[],
                problem="the time limit was near",
            )
            continue
        calls = _vary(number, variation, module, plan, job, progress, slowest) + 1
        slowest = max(slowest, (time.time() - began) / calls)


def _vary(
    number: int,
    variation: Variation,
    module: ModuleType,
    plan: Plan,
    job: dict,
    progress: Progress,
    slowest: float,
) -> int:
    """The steps that work in eager, under Dynamo; how many were made. No other phase comes between:
    the reader recognises resets by that."""
    able, refused = _that_work(variation, module, plan)
    problem, done = "", []
    if able:
        torch._dynamo.reset()
        try:
            target = _target(module, plan)
            compiled = torch.compile(target.function, backend=job["backend"])
            state = State(None if variation.name == SAME else owner(target.function))
            mark_phase(f"capture radar {number} base")
            _call(compiled, target, Step(variation.base), plan)
            quiet = 0
            for position, step in enumerate(able):
                if done and time.time() + slowest > job["deadline"] - limits.FEWEST_SECONDS:
                    problem = f"the time limit was near, so {len(able) - position} of its calls were not made"
                    break
                mark_phase(f"capture radar {number} {position}")
                before = _compiles()
                state.put_back()
                _call(compiled, target, step, plan)
                done.append(step.label)
                quiet = 0 if _compiles() != before else quiet + 1
                if quiet == limits.QUIET_STEPS:
                    break
        except Exception as error:
            problem = f"fails under torch.compile, though not without: {exception_text(error)}"
    progress.note(
        "variation",
        number=number,
        name=variation.name,
        base=variation.base,
        steps=done,
        refused=refused,
        problem=problem,
    )
    return len(done)


def _that_work(
    variation: Variation, module: ModuleType, plan: Plan
) -> tuple[list[Step], list[list[str]]]:
    """The steps that the target takes without torch.compile; of the others their labels and what it
    raises."""
    able: list[Step] = []
    refused: dict[str, str] = {}
    known: set[str] = set()
    for step in variation.steps:
        if step.label in refused:
            continue
        try:
            if step.label not in known:
                with torch.compiler.set_stance("force_eager"):
                    target = _target(module, plan)
                    _call(target.function, target, step, plan)
            known.add(step.label)
            able.append(step)
        except Exception as error:  # the user's code refuses it
            refused[step.label] = exception_text(error)
    if (
        all(step.label == variation.base for step in able)
        and variation.steps[0].label != variation.base
    ):
        able = []  # only the target's own arguments are left
    return able, [[label, why] for label, why in refused.items()]


def _call(function: Callable, target: Target, step: Step, plan: Plan) -> None:
    """One call, with its backward where the plan has one and the outputs require gradients."""
    tensors.seed_everything()
    step.prepare(target)
    args, kwargs = step.change(target.args, target.kwargs)
    with step.around():
        output = function(*args, **kwargs)
        if plan.backward:
            run_backward(
                output, target, (args, kwargs), plan, Made(), lambda what, call: None, strict=False
            )


def _target(module: ModuleType, plan: Plan) -> Target:
    target = build(module, plan)
    if not plan.calls:
        return target
    args, kwargs = tensors.move_values(argument_tuples(module, plan.calls)[0], plan.device)
    return replace(target, args=args, kwargs=kwargs)


def _compiles() -> int:
    return torch._dynamo.utils.counters["frames"]["total"]
