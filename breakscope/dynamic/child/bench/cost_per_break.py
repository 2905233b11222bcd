"""What each break of a step costs by itself: the step beside the same step with that one break
neutralised, in turns.

Every form is the user's files imported once more, changed in memory at one site (see
`child.neutral`), compiled with the user's backend and warm. A form is left out where its break does
not go, or where its outputs are others than the step's (of a step that draws random numbers, or
counts, that is not compared).
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import torch

from breakscope.dynamic.child.bench import metrics, side_by_side
from breakscope.dynamic.child.bench.compare import Values, difference
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.bench.warm_up import warm_up
from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import TargetError, load_file
from breakscope.dynamic.child.neutral.install import Changes, install
from breakscope.dynamic.child.settings import check_backend, limit_memory, pick_device
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.texts import exception_text


def serve(job: dict, folder: Path, progress: Progress) -> None:
    """Prepare the forms, step them in turns, and note the rounds."""
    try:
        device, _ = stage(progress, "options", lambda: pick_device(job["device"]))
        plan = Plan(job["name"], "", "", 0, job["backward"], device)
        limit_memory(job, device)
        stage(progress, "steps", lambda: _measure(plan, job, progress))
    except Stopped:
        pass
    progress.note("done")


def _measure(plan: Plan, job: dict, progress: Progress) -> None:
    changes = install([], progress, keep=True)
    metrics.keep_all()
    before = set(sys.modules)
    module = load_file(Path(job["file"]))
    check_backend(job["backend"])
    base, values, breaks = _form(module, plan, job)
    settled = _same(base.first(seed=0)[1], base.first(seed=1)[1])
    steppers, numbers = [base], []
    for site in job["neutralise"]:
        number = site["number"]
        try:
            copy = _changed_copy(changes, site, Path(job["file"]), before)
            stepper, others, left = _form(copy, plan, job)
            if left >= breaks:
                raise TargetError("without it as many pieces are left")
            if settled and not _same(values, others):
                raise TargetError("the outputs are others without it")
        except Exception as problem:  # the user's code, or what was made of it
            progress.note("form", number=number, problem=exception_text(problem))
            continue
        progress.note("form", number=number, problem="")
        steppers.append(stepper)
        numbers.append(number)
    if numbers:
        progress.note(
            "steps", numbers=numbers, rounds=side_by_side.in_turns(steppers, job["deadline"])
        )


def _same(one: dict[str, Values], other: dict[str, Values]) -> bool:
    return difference(one["outputs"], other["outputs"])["status"] != "different"


def _changed_copy(changes: Changes, site: dict, file: Path, before: set[str]) -> ModuleType:
    """The user's modules once more, with one break neutralised."""
    root = str(file.parent.resolve())
    for name in [
        name
        for name, module in sys.modules.items()
        if name not in before and _is_under(module, root)
    ]:
        del sys.modules[name]
    changes.want([site])
    try:
        module = load_file(file)
    finally:
        changes.want([])
    if not changes.ways.get(site["number"]):
        raise TargetError("it could not be neutralised")
    changes.bind()
    return module


def _is_under(module: ModuleType, root: str) -> bool:
    file = getattr(module, "__file__", None) or ""
    return os.path.realpath(file).startswith(root + os.sep) and "site-packages" not in file


def _form(module: ModuleType, plan: Plan, job: dict) -> tuple[Stepper, dict[str, Values], int]:
    """A form that is compiled and warm, its first values, and how many pieces breaks made of it."""
    before = len(metrics.all_compiles())
    stepper = Stepper.build(module, plan)
    stepper.function = partial(torch.compile, backend=job["backend"])(stepper.function)
    _, values = stepper.first(seed=0)
    if warm_up(stepper, [], job["deadline"])[-1]["compiles"]:
        raise TargetError("the step never stops compiling")
    return stepper, values, sum(map(metrics.is_broken, metrics.all_compiles()[before:]))
