"""A fake run's child: the file is loaded, its calls are tried without and made under Dynamo, and then
with other answers."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch._dynamo

from breakscope import limits
from breakscope.dynamic.child.calls import BATCHES, Made, Plan, build, make_calls
from breakscope.dynamic.child.eager import eager_reference
from breakscope.dynamic.child.fake.explore import explore
from breakscope.dynamic.child.fake.export import export
from breakscope.dynamic.child.fake.session import Session
from breakscope.dynamic.child.load import load_file
from breakscope.dynamic.child.neutral.install import install
from breakscope.dynamic.child.self_test import self_test
from breakscope.dynamic.child.settings import check_backend, limit_memory, pick_device
from breakscope.dynamic.child.tracebacks import keep_callers_of_the_same_name
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.texts import shortened


def serve(job: dict, folder: Path, progress: Progress, fake: Session) -> None:
    """All stages in order, as those of a real run."""
    try:
        device, automatic = stage(progress, "options", lambda: pick_device(job["device"]))
        keep_callers_of_the_same_name()
        if job["neutralise"]:
            install(job["neutralise"], progress)
        limit_memory(job, torch.device("cpu"))
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        plan = Plan(
            job["name"],
            job["calls"],
            job["drive"],
            len(BATCHES) if job["vary"] else 0,
            job["backward"] and fake.has_backward,
            device,
            fake=fake,
        )
        plan, refused = _tried(module, plan, automatic, job, folder, progress)
        self_test(progress, "self-test")
        seconds, asked = capture(module, plan, job, _Held(progress, refused), fake)
        if refused:
            why = shortened(refused["message"], limits.LONGEST_EXCEPTION_TEXT)
            progress.note("note", text=f"on fake tensors it fails without torch.compile: {why}")
        self_test(progress, "self-test again")
        explore(module, plan, job, seconds, asked, progress, fake)
        export(module, plan, job, seconds, progress, fake)
    except Stopped:
        pass
    progress.note("done")


class _Held:
    """A progress log that keeps an error of the calls in eager back: a fake kernel may refuse there
    what real tensors would not, and Dynamo may take another way. Where Dynamo fails too, it is the error
    of the run."""

    def __init__(self, progress: Progress, refused: dict | None = None) -> None:
        self._progress, self.refused = progress, refused

    def note(self, event: str, **facts: Any) -> None:
        if event == "error" and facts["stage"] == "eager":
            self.refused = facts
        elif event == "error" and self.refused:
            self._progress.note("error", **self.refused)
        else:
            self._progress.note(event, **facts)


def _tried(
    module: ModuleType, plan: Plan, automatic: bool, job: dict, folder: Path, progress: Progress
) -> tuple[Plan, dict | None]:
    """What of the plan works without torch.compile, and the error where nothing does."""
    held = _Held(progress)
    try:
        tried = eager_reference(module, plan, automatic, job, folder, held)
    except Stopped:
        if held.refused is None:
            raise
        return replace(plan, tried=False), held.refused
    if held.refused:
        progress.note("error", **held.refused)
    return tried, None


def capture(
    module: ModuleType, plan: Plan, job: dict, progress: Progress, fake: Session
) -> tuple[float, list]:
    """The calls under Dynamo; the seconds they took, and what was asked of values."""
    made = Made()

    def mark(what: str, call: int) -> None:
        progress.note(what, call=call)
        mark_phase(f"capture {what} {call}")

    def work() -> None:
        target = build(module, plan)
        progress.note("fake model", **fake.size_of(target))
        compiled = torch.compile(target.function, backend=job["backend"])
        fake.begin()
        make_calls(module, target, compiled, plan, made, mark, strict=True)

    began = time.time()
    mark_phase("capture")
    asked = []
    try:
        stage(progress, "capture", work)
    finally:
        asked = fake.end(0)
        mark_phase("between")
        progress.note(
            "captured",
            calls=made.calls,
            backward=made.backward,
            seconds=time.time() - began,
            device=str(plan.device),
        )
        if not plan.tried:
            for text in made.notes:
                progress.note("note", text=text)
    return time.time() - began, asked
