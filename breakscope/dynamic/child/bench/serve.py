"""The stages of a benchmark's worker: build the target, compile and warm up, then step on the parent's
commands."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import torch
import torch._dynamo

from breakscope.dynamic.child.bench import (
    compare,
    coverage,
    cuda_graph_log,
    memory,
    metrics,
    side_by_side,
)
from breakscope.dynamic.child.bench.gpu_busy import busy_seconds
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.bench.warm_up import warm_up
from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import load_file
from breakscope.dynamic.child.settings import check_backend, device_name, pick_device
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.progress_log import Progress


def serve(job: dict, folder: Path, progress: Progress) -> None:
    """Prepare, and answer the parent's commands until it closes the pipe."""
    commands, answers = os.fdopen(job["commands"], "r", encoding="utf-8"), job["answers"]
    try:
        device, _ = stage(progress, "options", lambda: pick_device(job["device"]))
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        plan = Plan(job["name"], job["calls"], "", 0, job["backward"], device)
        if job["mode"] == "coverage":
            _answer(
                answers,
                stage(
                    progress, "coverage", lambda: coverage.measure(module, plan, job["deadline"])
                ),
            )
            return
        stepper, plain, prepared = _prepare(module, plan, job, folder, progress)
        _answer(answers, prepared)
        for line in commands:
            wanted = json.loads(line)
            if wanted["do"] == "step":
                _answer(
                    answers, stage(progress, "steps", partial(_steps, stepper, wanted["steps"]))
                )
            elif wanted["do"] == "peak":
                _answer(answers, {"peak": memory.peak(device)})
            elif wanted["do"] == "beside":
                others = [
                    stage(progress, "estimate", partial(_other, what, stepper, plain, plan, job))
                    for what in wanted["others"]
                ]
                _answer(
                    answers,
                    stage(
                        progress,
                        "steps",
                        partial(side_by_side.in_turns, [stepper, *others], job["deadline"]),
                    ),
                )
    except Stopped:
        pass
    progress.note("done")


def _other(what: dict, stepper: Stepper, plain: Callable, plan: Plan, job: dict) -> Stepper:
    """What to step beside the target: another target, or the same step as one graph."""
    compiled = partial(_compiled, job=job)
    if what.get("file"):
        plan = replace(plan, name=what["name"])
        return side_by_side.other_target(
            load_file(Path(what["file"])), plan, compiled, job["deadline"]
        )
    return side_by_side.without_breaks(stepper, plain, compiled, job["deadline"])


def _prepare(
    module: ModuleType, plan: Plan, job: dict, folder: Path, progress: Progress
) -> tuple[Stepper, Callable, dict]:
    """Compile and warm up; with the function before it was compiled, and what the first steps
    showed."""
    stepper = stage(progress, "build", lambda: Stepper.build(module, plan))
    metrics.keep_all()
    spans = metrics.Spans.watch()
    memory.start(plan.device)
    start_up, plain = 0.0, stepper.function
    if job["mode"] != "eager":
        began = time.perf_counter()
        stepper.function = stage(progress, "capture", lambda: _compiled(plain, job))
        start_up = time.perf_counter() - began
    name = "eager" if job["mode"] == "eager" else "capture"
    with cuda_graph_log.listening() as graph_messages:
        agreement = stage(progress, name, lambda: _compare(module, plan, stepper, job))
        calls = stage(
            progress, name, lambda: warm_up(stepper, agreement.pop("calls"), job["warm_by"])
        )
    seen = metrics.all_compiles(spans)
    busy = None
    # a profiler that sees nothing, or may not, must not end the mode
    with contextlib.suppress(Exception):
        busy = busy_seconds(stepper.timed, stepper.turn, plan.device)
    result = {
        "start_up": start_up,
        "calls": calls,
        "turn": stepper.turn,
        "compiles": seen,
        "graphs": metrics.graphs(seen),
        "warm_up_peak": memory.peak(plan.device),
        "device": device_name(plan.device),
        "threads": torch.get_num_threads(),
        "clock": "device" if plan.device.type == "cuda" else stepper.clock.kind,
        "python": sys.version.split()[0],
        "torch": str(torch.__version__),
        "torch_root": str(Path(torch.__file__).parent),
        "cuda_graphs": graph_messages,
        "busy": busy,
        "backward": stepper.went_backward,
        **agreement,
    }
    memory.start(plan.device)
    return stepper, plain, result


def _steps(stepper: Stepper, number: int) -> list[float]:
    return [stepper.timed()[1] for _ in range(number)]


def _compiled(function: Callable, job: dict) -> Callable:
    mode = job["mode"] if job["mode"] in ("reduce-overhead", "max-autotune") else None
    dynamic = True if job["mode"] == "dynamic" else None
    return torch.compile(function, backend=job["backend"], mode=mode, dynamic=dynamic)


def _compare(module: ModuleType, plan: Plan, stepper: Stepper, job: dict) -> dict:
    """The first step, from the same weights, inputs and random numbers in every mode."""
    file = Path(job["reference"])
    before, began = metrics.count(), time.time()
    seconds, values = stepper.first(seed=0)
    calls = [{"seconds": seconds, "compiles": metrics.count() - before, "begin": began}]
    if job["mode"] == "eager":
        again = Stepper.build(module, plan).first(seed=0)[1]
        other = Stepper.build(module, plan).first(seed=1)[1]
        compare.save(file, values, again, other)
        return {"calls": calls}
    return {"calls": calls, "agreement": compare.with_reference(file, values)}


def _answer(descriptor: int, facts: object) -> None:
    data = json.dumps(facts, default=str).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
