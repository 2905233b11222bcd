"""The stages of the child process: load the file, eager reference, capture under Dynamo, explain,
cost of the breaks. Each leaves a note in the progress log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch
import torch._dynamo

from breakscope import limits
from breakscope.dynamic.child import host_syncs
from breakscope.dynamic.child.applied import apply, compile_arguments, marking
from breakscope.dynamic.child.bench import side_by_side
from breakscope.dynamic.child.bench.coverage import marked, of_run
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.calls import BATCHES, Made, Plan, build, make_calls
from breakscope.dynamic.child.eager import eager_reference
from breakscope.dynamic.child.explain import explain_first_call
from breakscope.dynamic.child.load import Target, load_file
from breakscope.dynamic.child.neutral.first_output import FirstOutput
from breakscope.dynamic.child.neutral.install import install
from breakscope.dynamic.child.self_test import self_test
from breakscope.dynamic.child.settings import check_backend, device_name, limit_memory, pick_device
from breakscope.dynamic.child.tracebacks import keep_callers_of_the_same_name
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.dynamic.trace.phases import AFTERWARDS
from breakscope.texts import exception_text


def run(job: dict, folder: Path, progress: Progress) -> None:
    """All stages in order; `job` is what the parent wrote into job.json, `folder` where everything
    goes."""
    try:
        device, automatic = stage(progress, "options", lambda: pick_device(job["device"]))
        keep_callers_of_the_same_name()
        if job["neutralise"]:
            install(job["neutralise"], progress)
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        stage(progress, "options", lambda: apply(job["settings"]))
        plan = Plan(
            job["name"],
            job["calls"],
            job["drive"],
            len(BATCHES) if job["vary"] else 0,
            job["backward"],
            device,
        )
        plan = eager_reference(module, plan, automatic, job, folder, progress)
        limit_memory(job, plan.device)
        # not sooner: with CUDA, compiling starts CUDA, and then nothing can be forked
        self_test(progress, "self-test")
        seconds = capture(module, plan, job, progress)
        self_test(progress, "self-test again")
        if job["explain"]:
            explain(module, plan, job, seconds, progress)
    except Stopped:
        progress.note("done")
        return
    progress.note("done")  # whatever ends the process from here on, all but one figure is there
    cost_of_breaks(module, plan, job, seconds, progress)


def capture(module: ModuleType, plan: Plan, job: dict, progress: Progress) -> float:
    """The calls under Dynamo, and the seconds they took. What goes wrong here went well in eager."""
    made = Made()

    def mark(what: str, call: int) -> None:
        progress.note(what, call=call)
        mark_phase(f"capture {what} {call}")

    def work() -> None:
        target = build(module, plan)
        compiled = torch.compile(
            target.function,
            backend=marked if job["backend"] == "eager" else job["backend"],
            **compile_arguments(job["settings"]),
        )
        compiled = marking(compiled, target.function, job["settings"])
        if job["neutralise"]:
            first = FirstOutput(compiled)
            make_calls(module, target, first, plan, made, mark, strict=True)
            mark_phase("between")
            progress.note("compared", differs=first.differs_from_eager(module, plan))
            return
        make_calls(module, target, compiled, plan, made, mark, strict=True)
        mark_phase("between")
        if job["backend"] == "eager" and not (plan.drive or plan.calls):
            share_compiled(compiled, target, plan, began, job, progress)
        if plan.device.type == "cuda" and not (plan.drive or plan.calls):
            listen_for_syncs(compiled, target, plan, progress)

    began = time.time()
    mark_phase("capture")
    try:
        stage(progress, "capture", work)
    finally:
        mark_phase("between")
        progress.note(
            "captured",
            calls=made.calls,
            backward=made.backward,
            seconds=time.time() - began,
            device=device_name(plan.device),
        )
    return time.time() - began


def share_compiled(
    compiled: Callable, target: Target, plan: Plan, began: float, job: dict, progress: Progress
) -> None:
    """A few more calls under the profiler; left out when time is short, and without a note when
    they do not work."""
    longest = max(15.0, 1.5 * (time.time() - began))
    if job["deadline"] - time.time() < 5 + longest:
        return
    mark_phase(AFTERWARDS)
    with contextlib.suppress(Exception):
        share, more = of_run(compiled, target, plan, time.time() + longest)
        progress.note("coverage", share=share, further=more)


def listen_for_syncs(compiled: Callable, target: Target, plan: Plan, progress: Progress) -> None:
    """Where a steady step makes the CPU wait for the GPU; without a note when the step does not
    work once more."""
    mark_phase(AFTERWARDS)
    with contextlib.suppress(Exception):
        stepper = replace(
            Stepper.of(target, [(target.args, target.kwargs)], plan), function=compiled
        )
        stepper.untimed()
        with host_syncs.listening() as stacks:
            stepper.untimed()
        progress.note("host syncs", syncs=host_syncs.counted(stacks))


def explain(
    module: ModuleType, plan: Plan, job: dict, capture_seconds: float, progress: Progress
) -> None:
    """torch._dynamo.explain on a fresh target, last of all because it resets Dynamo and changes
    module state."""
    if job["deadline"] - time.time() < 5 + 1.5 * capture_seconds:
        progress.note("note", text="torch._dynamo.explain was left out: the time limit was near")
        return
    mark_phase("explain")
    progress.note("stage", name="explain")
    try:
        progress.note("explained", **explain_first_call(module, plan))
    except BaseException as problem:
        progress.note(
            "note",
            text=f"torch._dynamo.explain failed: {exception_text(problem)}",
        )
    mark_phase("between")


def cost_of_breaks(
    module: ModuleType, plan: Plan, job: dict, capture_seconds: float, progress: Progress
) -> None:
    """What the breaks cost per step, with a backend that makes code; the eager one only shows where
    graphs end."""
    if job["backend"] == "eager" or plan.drive or plan.calls or plan.limit is not None:
        return
    longest = limits.MOST_NEAR_SECONDS + 1.5 * capture_seconds
    if job["deadline"] - time.time() < longest:
        progress.note(
            "note", text="what breaks cost per step was not measured: the time limit was near"
        )
        return
    mark_phase("between")
    try:
        rounds = side_by_side.of_run(module, plan, job["backend"], time.time() + longest)
    except Exception as problem:
        progress.note(
            "note",
            text=f"what breaks cost per step was not measured: {' '.join(str(problem).split())[:160]}",
        )
        return
    if rounds:
        progress.note("steps", rounds=rounds)
