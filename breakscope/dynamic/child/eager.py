"""The reference: the calls without torch.compile, to see which of them work at all."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch

from breakscope.dynamic.child.calls import Made, Plan, build, make_calls
from breakscope.dynamic.child.settings import limit_memory
from breakscope.dynamic.child.stacks import write_on_request
from breakscope.dynamic.child.user_code import Stopped, stage
from breakscope.dynamic.child.written.progress_log import Progress


def eager_reference(
    module: ModuleType, plan: Plan, automatic: bool, job: dict, folder: Path, progress: Progress
) -> Plan:
    """Run the calls without torch.compile, in a fork where possible, so that no cache is warm when
    Dynamo comes.

    Returns the plan for the compiled run: the calls that worked, and only the steps that worked.
    """
    result = _reference_on(module, plan, job, folder, progress)
    if automatic and plan.device.type != "cpu" and result["calls"] == 0:
        progress.note(
            "note", text=f"does not run on {plan.device}, so the CPU was used: {result['problem']}"
        )
        plan = replace(plan, device=torch.device("cpu"))
        result = _reference_on(module, plan, job, folder, progress)
    if result.get("error"):
        progress.note("error", **result["error"])
    if result.get("end"):
        progress.note("ended", stage="eager", **result["end"])
    for text in result["notes"]:
        progress.note("note", text=text)
    progress.note(
        "eager", calls=result["calls"], backward=result["backward"], varied=result["varied"]
    )
    if result["calls"] == 0:
        raise Stopped
    failed = bool(result.get("error") or result.get("end"))
    return replace(
        plan,
        vary=min(plan.vary, result["varied"]),
        backward=plan.backward and result["backward"] > 0,
        limit=result["calls"] if failed else None,
        forward_only=frozenset(result.get("forward_only", ())),
    )


def _reference_on(
    module: ModuleType, plan: Plan, job: dict, folder: Path, progress: Progress
) -> dict:
    progress.note("stage", name="eager", device=str(plan.device))
    if not _may_fork():
        return _reference(module, plan)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        own = os.getpid()
        write_on_request(folder, job["deadline"])
        result = _in_fork(module, plan, job)
        if os.getpid() != own:
            os._exit(0)  # a fork of the user's
        os.write(writer, json.dumps(result, default=str).encode("utf-8", "replace"))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(pid, 0)[1]
    if text:
        return json.loads(text)
    end = (
        {"signal": os.WTERMSIG(status)}
        if os.WIFSIGNALED(status)
        else {"exit": os.WEXITSTATUS(status)}
    )
    return {
        "calls": 0,
        "backward": 0,
        "varied": 0,
        "notes": [],
        "end": end,
        "problem": f"it ended with {end}",
    }


def _may_fork() -> bool:
    return sys.platform == "linux" and not torch.cuda.is_initialized()


def _in_fork(module: ModuleType, plan: Plan, job: dict) -> dict:
    # the trace belongs to the parent of this fork
    for handler in list(logging.getLogger("torch.__trace").handlers):
        logging.getLogger("torch.__trace").removeHandler(handler)
    torch.set_num_threads(1)  # GNU OpenMP hangs in a fork when the parent used its threads
    try:
        limit_memory(job, plan.device)
        return _reference(module, plan)
    except BaseException as problem:
        return {"calls": 0, "backward": 0, "varied": 0, "notes": [], "problem": repr(problem)}


def _reference(module: ModuleType, plan: Plan) -> dict:
    made, problem, notes = Made(), "", _Notes()
    with torch.compiler.set_stance("force_eager"):
        try:
            stage(notes, "build", lambda: setattr(notes, "target", build(module, plan)))
            target = notes.target
            stage(
                notes,
                "eager",
                lambda: make_calls(
                    module,
                    target,
                    target.function,
                    plan,
                    made,
                    lambda what, call: None,
                    strict=False,
                ),
            )
        except Stopped:
            problem = f"{notes.error['type']}: {notes.error['message'][:200]}"
    return {
        "calls": made.calls,
        "backward": made.backward,
        "varied": made.varied,
        "notes": made.notes,
        "forward_only": sorted(made.forward_only),
        "error": notes.error,
        "problem": problem,
    }


class _Notes:
    """Stands in for the progress file inside the fork: keeps the one error that `stage` notes."""

    error: dict | None = None
    target = None

    def note(self, event: str, **facts: object) -> None:
        if event == "error":
            self.error = facts
