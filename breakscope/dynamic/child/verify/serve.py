"""A target as it is, or with other sources: its calls in eager and under Dynamo, recorded; compared
with an earlier recording; and timed."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch
import torch._dynamo

from breakscope import limits
from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.calls import BATCHES, Plan
from breakscope.dynamic.child.load import load_file
from breakscope.dynamic.child.self_test import self_test
from breakscope.dynamic.child.settings import check_backend, device_name, limit_memory, pick_device
from breakscope.dynamic.child.stacks import write_on_request
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.verify import guess, overlay
from breakscope.dynamic.child.verify.agree import (
    compiled_agreements,
    eager_agreements,
    unsteady_state,
)
from breakscope.dynamic.child.verify.record import Recorder, lines_run
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress

EAGER, AGAIN, COMPILED, WAY = "eager.pt", "again.pt", "compiled.pt", "guess.json"


def serve(job: dict, folder: Path, progress: Progress) -> None:
    """All stages. What is recorded goes to job["record"]; job["reference"] is the folder of the
    recording to compare with, "" for none."""
    records = Path(job["record"])
    try:
        overlay.install(job["sources"])
        device, _ = stage(progress, "options", lambda: pick_device(job["device"]))
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # sums in one order
        tensors.seed_everything()  # what the file makes at its top is the same in both forms
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        vary = len(BATCHES) if job["vary"] else 0
        plan = Plan(job["name"], job["calls"], job["drive"], vary, job["backward"], device)
        given = _given(job)
        stage(progress, "eager", lambda: _eager(module, plan, given, job, records, folder))
        if job["guess"]:
            plan = replace(plan, name=guess.FACTORY)
            way = guess.plant(module, job["guess"], _guessed(records))
            progress.note("guessed", text=guess.shown(way))
        limit_memory(job, device)
        eager = _load(records / EAGER)
        _note_eager(progress, eager)
        self_test(progress, "self-test")
        stage(progress, "capture", lambda: _compiled(module, plan, given, job, records, progress))
        self_test(progress, "self-test again")
        if job["reference"]:
            stage(progress, "compare", lambda: _compare(job, records, progress))
        progress.note("done")
        _time(module, plan, job, threads, progress)
    except Stopped:
        progress.note("done")


def _given(job: dict) -> dict | None:
    return _load(Path(job["reference"]) / EAGER)["initial"] if job["reference"] else None


def _guessed(records: Path) -> guess.Way:
    shape, whole = json.loads((records / WAY).read_text(encoding="utf-8"))
    return shape, whole


def _load(file: Path) -> dict:
    return torch.load(file, weights_only=True)


def _eager(
    module: ModuleType, plan: Plan, given: dict | None, job: dict, records: Path, folder: Path
) -> None:
    """The calls without torch.compile, in a fork where that is possible, so that nothing that the
    program keeps is there already when Dynamo comes. Of the original they are made once more, in
    another: what is different then changes by itself, as a time does."""

    def work(out: str, known: Path | None, given: dict | None, seconds: float) -> None:
        ours = plan
        if job["guess"]:
            way = guess.plant(module, job["guess"], _guessed(known) if known else None)
            (records / WAY).write_text(json.dumps(way), encoding="utf-8")
            ours = replace(plan, name=guess.FACTORY)
        with torch.compiler.set_stance("force_eager"), lines_run([*job["lines"]]) as lines:
            found = Recorder(module, ours, given).recorded(lambda f: f, lambda what: None, seconds)
        found["lines"] = {path: sorted(run) for path, run in lines.items()}
        torch.save(found, records / out)

    seconds = min(limits.OTHER_VALUES_SECONDS, max(0.0, job["deadline"] - time.time()) / 4)
    reference = Path(job["reference"]) if job["reference"] else None
    if sys.platform != "linux" or torch.cuda.is_initialized():
        work(EAGER, reference, given, seconds)
        return
    _forked(lambda: work(EAGER, reference, given, seconds), folder, job["deadline"])
    if reference is None:
        same = _load(records / EAGER)["initial"]
        _forked(lambda: work(AGAIN, records, same, 0.0), folder, job["deadline"])


def _forked(work: Callable[[], None], folder: Path, deadline: float) -> None:
    """Do the work in a fork of this process. Raises RuntimeError with what went wrong there."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        write_on_request(folder, deadline)
        _end_with(_told(work), writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode("utf-8", "replace")
    status = os.waitpid(pid, 0)[1]
    if text != "done":
        raise RuntimeError(text or f"the process ended with {os.waitstatus_to_exitcode(status)}")


def _told(work: Callable[[], None]) -> str:
    """ "done", or what went wrong."""
    for handler in list(logging.getLogger("torch.__trace").handlers):
        logging.getLogger("torch.__trace").removeHandler(handler)  # the trace is the parent's
    try:
        work()
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"
    return "done"


def _end_with(text: str, pipe: int) -> None:
    os.write(pipe, text.encode("utf-8", "replace")[: limits.LONGEST_KEPT_TEXT])
    os._exit(0)


def _note_eager(progress: Progress, eager: dict) -> None:
    calls = eager["calls"]
    progress.note(
        "eager",
        calls=len(calls),
        raised=sum(bool(call["raised"]) for call in calls),
        values=len(eager["values"]),
    )
    progress.note("lines", lines=eager["lines"])


def _compiled(
    module: ModuleType, plan: Plan, given: dict | None, job: dict, records: Path, progress: Progress
) -> None:
    began = time.time()
    _same_random_numbers()

    def wrap(function: Callable) -> Callable:
        return torch.compile(function, backend=job["backend"])

    def mark(what: str) -> None:
        mark_phase(f"capture {what}")

    found = Recorder(module, plan, given).recorded(wrap, mark, 0.0)
    mark_phase("between")
    torch.save(found, records / COMPILED)
    progress.note(
        "captured",
        calls=len(found["calls"]),
        backward=sum(bool(call["gradients"]) for call in found["calls"]),
        seconds=time.time() - began,
        device=device_name(plan.device),
    )


def _same_random_numbers() -> None:
    """Let inductor draw as eager does."""
    try:
        import torch._inductor.config as inductor

        inductor.fallback_random = True
    except Exception:
        pass


def _compare(job: dict, records: Path, progress: Progress) -> None:
    reference = Path(job["reference"])
    eager, other = _load(reference / EAGER), _load(records / EAGER)
    again = _load(reference / AGAIN) if (reference / AGAIN).is_file() else eager
    unsteady = unsteady_state(eager["state"], again["state"])
    found = eager_agreements(eager, other, unsteady)
    if (reference / COMPILED).is_file():
        was = _load(reference / COMPILED)
        found += compiled_agreements(eager, was, _load(records / COMPILED), unsteady)
    for agreement in found:
        progress.note(
            "agreement", what=agreement.what, status=agreement.status, detail=agreement.detail
        )


def _time(module: ModuleType, plan: Plan, job: dict, threads: int, progress: Progress) -> None:
    """Seconds of a step, the least of some; without a note where a step does not work again."""
    if plan.drive or plan.calls or job["deadline"] - time.time() < limits.STEP_TIMING_SECONDS * 4:
        return
    mark_phase("between")
    torch.set_num_threads(threads)
    try:
        torch._dynamo.reset()
        stepper = Stepper.build(module, plan)
        with torch.compiler.set_stance("force_eager"):
            eager = _least(stepper)
        stepper = Stepper.build(module, plan)
        stepper.function = torch.compile(stepper.function, backend=job["backend"])
        for _ in range(limits.SAME_CALLS):
            stepper.untimed()
        progress.note("times", eager=eager, compiled=_least(stepper))
    except Exception:
        return


def _least(stepper: Stepper) -> float:
    stepper.untimed()
    ends, least = time.monotonic() + limits.STEP_TIMING_SECONDS, float("inf")
    while True:
        least = min(least, stepper.timed()[1])
        if time.monotonic() > ends:
            return least
