"""The child's day: load the file, eager reference, capture under Dynamo, second witness. Each stage leaves its mark."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import torch
import torch._dynamo

from breakscope.dynamic.child import host_syncs
from breakscope.dynamic.child.bench import beside
from breakscope.dynamic.child.bench.coverage import marked, of_run
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.calls import BATCHES, Made, Plan, build, make_calls
from breakscope.dynamic.child.load import Target, TargetError, load_file
from breakscope.dynamic.child.neutral.compare import FirstOutput
from breakscope.dynamic.child.neutral.install import install
from breakscope.dynamic.child.planted import see_planted_break
from breakscope.dynamic.child.progress import Progress
from breakscope.dynamic.child.same_names import keep_callers_of_the_same_name
from breakscope.dynamic.child.stacks import tell_where
from breakscope.dynamic.child.witness import ask_explain
from breakscope.dynamic.diary import AFTERWARDS


class Stopped(Exception):
    """A stage failed and has said so; nothing follows."""


def run(job: dict, folder: Path, progress: Progress) -> None:
    """All stages in order; `job` is what the parent wrote into job.json, `folder` where everything goes."""
    try:
        device, automatic = stage(progress, "options", lambda: pick_device(job["device"]))
        keep_callers_of_the_same_name()
        if job["neutralise"]:
            install(job["neutralise"], progress)
        module = stage(progress, "import", lambda: load_file(Path(job["file"])))
        stage(progress, "options", lambda: check_backend(job["backend"]))
        plan = Plan(job["name"], job["calls"], job["drive"], len(BATCHES) if job["vary"] else 0, job["backward"], device)
        plan = eager_reference(module, plan, automatic, job, folder, progress)
        limit_memory(job, plan.device)
        self_test(progress, "self-test")  # not sooner: with CUDA, compiling starts CUDA, and then nothing can be forked
        seconds = capture(module, plan, job, progress)
        self_test(progress, "self-test again")
        if job["witness"]:
            witness(module, plan, job, seconds, progress)
    except Stopped:
        progress.note("done")
        return
    progress.note("done")  # whatever ends the process from here on, all but one figure is there
    cost_of_breaks(module, plan, job, seconds, progress)


def stage(progress: Progress, name: str, work: Callable):
    """Run the user's code; whatever it raises becomes one error note with its traceback."""
    progress.note("stage", name=name)
    try:
        return work()
    except TargetError as problem:
        progress.note("error", stage=name, type="TargetError", message=str(problem), frames=[])
    except BaseException as problem:  # SystemExit and KeyboardInterrupt are the user's too
        note_exception(progress, name, problem)
    raise Stopped


def note_exception(progress: Progress, name: str, problem: BaseException) -> None:
    frames = [[f.filename, f.lineno, f.name, f.line or ""] for f in traceback.extract_tb(problem.__traceback__)]
    if isinstance(problem, SyntaxError):
        frames.append([problem.filename, problem.lineno, "", (problem.text or "").strip()])
    kind = type(problem)
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    progress.note("error", stage=name, type=f"{place}{kind.__qualname__}", message=str(problem)[:20_000], frames=frames)


def mark_phase(name: str) -> None:
    """Write a marker into the structured trace and the text log: what follows belongs to this phase.

    A program's logging.config.dictConfig may have disabled torch's loggers, by default and without meaning to.
    """
    for logger_name, logger in logging.root.manager.loggerDict.items():
        if logger_name.startswith("torch") and isinstance(logger, logging.Logger):
            logger.disabled = False
    logging.getLogger("torch._dynamo").warning("breakscope_phase %s", name)
    with contextlib.suppress(Exception):  # an internal function; without markers the reader takes all as one phase
        torch._logging.trace_structured(
            "artifact", lambda: {"name": "breakscope_phase", "encoding": "string"}, payload_fn=lambda: name)


def self_test(progress: Progress, name: str) -> None:
    mark_phase(name)
    progress.note("self-test", name=name)
    try:
        see_planted_break()
        torch._dynamo.reset()
    except Exception as problem:
        progress.note("note", text=f"the self-test failed: {type(problem).__name__}: {str(problem)[:300]}")
    mark_phase("between")


def pick_device(wanted: str | None) -> tuple[torch.device, bool]:
    """The device, and whether it was chosen without asking; raises TargetError when there is no such device.

    NVML answers whether there is CUDA without starting it, so that forking stays safe.
    """
    cuda = torch.cuda.is_available()
    if not wanted:
        return torch.device("cuda" if cuda else "cpu"), True
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise TargetError(f"no device is called {wanted!r}; write cpu, cuda or cuda:1") from None
    if device.type == "cuda" and not cuda:
        raise TargetError(f"there is no device {wanted} here: torch {torch.__version__} sees no CUDA")
    return device, False


def check_backend(name: str) -> None:
    """Raise TargetError for an unknown backend; after the import, as the user's file may register its own."""
    if name not in torch._dynamo.list_backends(exclude_tags=()):
        raise TargetError(f"no backend is called {name!r}; there are {', '.join(sorted(torch._dynamo.list_backends()))}")


def eager_reference(module: ModuleType, plan: Plan, automatic: bool, job: dict, folder: Path,
                    progress: Progress) -> Plan:
    """Run the calls without torch.compile, in a fork where possible, so that no cache is warm when Dynamo comes.

    Returns the plan for the compiled run: the calls that worked, and only the steps that worked.
    """
    result = _reference_on(module, plan, job, folder, progress)
    if automatic and plan.device.type != "cpu" and result["calls"] == 0:
        progress.note("note", text=f"does not run on {plan.device}, so the CPU was used: {result['problem']}")
        plan = replace(plan, device=torch.device("cpu"))
        result = _reference_on(module, plan, job, folder, progress)
    if result.get("error"):
        progress.note("error", **result["error"])
    if result.get("end"):
        progress.note("ended", stage="eager", **result["end"])
    for text in result["notes"]:
        progress.note("note", text=text)
    progress.note("eager", calls=result["calls"], backward=result["backward"], varied=result["varied"])
    if result["calls"] == 0:
        raise Stopped
    failed = bool(result.get("error") or result.get("end"))
    return replace(plan, vary=min(plan.vary, result["varied"]), backward=plan.backward and result["backward"] > 0,
                   limit=result["calls"] if failed else None, forward_only=frozenset(result.get("forward_only", ())))


def _reference_on(module: ModuleType, plan: Plan, job: dict, folder: Path, progress: Progress) -> dict:
    progress.note("stage", name="eager", device=str(plan.device))
    if not _may_fork():
        return _reference(module, plan, job)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        own = os.getpid()
        tell_where(folder, job["deadline"])
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
    end = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}
    return {"calls": 0, "backward": 0, "varied": 0, "notes": [], "end": end, "problem": f"it ended with {end}"}


def _may_fork() -> bool:
    return sys.platform == "linux" and not torch.cuda.is_initialized()


def _in_fork(module: ModuleType, plan: Plan, job: dict) -> dict:
    for handler in list(logging.getLogger("torch.__trace").handlers):  # the trace belongs to the parent of this fork
        logging.getLogger("torch.__trace").removeHandler(handler)
    torch.set_num_threads(1)  # GNU OpenMP hangs in a fork when the parent used its threads
    try:
        limit_memory(job, plan.device)
        return _reference(module, plan, job)
    except BaseException as problem:
        return {"calls": 0, "backward": 0, "varied": 0, "notes": [], "problem": repr(problem)}


def _reference(module: ModuleType, plan: Plan, job: dict) -> dict:
    made, problem, notes = Made(), "", _Notes()
    with torch.compiler.set_stance("force_eager"):
        try:
            stage(notes, "build", lambda: setattr(notes, "target", build(module, plan)))
            target = notes.target
            stage(notes, "eager", lambda: make_calls(
                module, target, target.function, plan, made, lambda what, call: None, strict=False))
        except Stopped:
            problem = f"{notes.error['type']}: {notes.error['message'][:200]}"
    return {"calls": made.calls, "backward": made.backward, "varied": made.varied, "notes": made.notes,
            "forward_only": sorted(made.forward_only), "error": notes.error, "problem": problem}


class _Notes:
    """Stands in for the progress file inside the fork: keeps the one error that `stage` notes."""

    error: dict | None = None
    target = None

    def note(self, event: str, **facts: object) -> None:
        if event == "error":
            self.error = facts


def capture(module: ModuleType, plan: Plan, job: dict, progress: Progress) -> float:
    """The calls under Dynamo, and the seconds they took. What goes wrong here went well in eager."""
    made = Made()

    def mark(what: str, call: int) -> None:
        progress.note(what, call=call)
        mark_phase(f"capture {what} {call}")

    def work() -> None:
        target = build(module, plan)
        compiled = torch.compile(target.function, backend=marked if job["backend"] == "eager" else job["backend"])
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
        progress.note("captured", calls=made.calls, backward=made.backward, seconds=time.time() - began,
                      device=_device_name(plan.device))
    return time.time() - began


def share_compiled(compiled: Callable, target: Target, plan: Plan, began: float, job: dict, progress: Progress) -> None:
    """A few more calls under the profiler; left out when time is short, and without a word when they do not work."""
    longest = max(15.0, 1.5 * (time.time() - began))
    if job["deadline"] - time.time() < 5 + longest:
        return
    mark_phase(AFTERWARDS)
    with contextlib.suppress(Exception):
        share, more = of_run(compiled, target, plan, time.time() + longest)
        progress.note("coverage", share=share, further=more)


def listen_for_syncs(compiled: Callable, target: Target, plan: Plan, progress: Progress) -> None:
    """Where a steady step makes the CPU wait for the GPU; without a word when the step does not work once more."""
    mark_phase(AFTERWARDS)
    with contextlib.suppress(Exception):
        stepper = replace(Stepper.of(target, [(target.args, target.kwargs)], plan), function=compiled)
        stepper.untimed()
        with host_syncs.listening() as heard:
            stepper.untimed()
        progress.note("host syncs", syncs=host_syncs.counted(heard))


def witness(module: ModuleType, plan: Plan, job: dict, capture_seconds: float, progress: Progress) -> None:
    """torch._dynamo.explain on a fresh target, last of all because it resets Dynamo and changes module state."""
    if job["deadline"] - time.time() < 5 + 1.5 * capture_seconds:
        progress.note("note", text="torch._dynamo.explain was not asked: the time limit was near")
        return
    mark_phase("witness")
    progress.note("stage", name="witness")
    try:
        progress.note("witness", **ask_explain(module, plan))
    except BaseException as problem:
        progress.note("note", text=f"torch._dynamo.explain gave up: {type(problem).__name__}: {str(problem)[:200]}")
    mark_phase("between")


def cost_of_breaks(module: ModuleType, plan: Plan, job: dict, capture_seconds: float, progress: Progress) -> None:
    """What the breaks cost per step, with a backend that makes code; the eager one only shows where graphs end."""
    if job["backend"] == "eager" or plan.drive or plan.calls or plan.limit is not None:
        return
    longest = beside.LONGEST + 1.5 * capture_seconds
    if job["deadline"] - time.time() < longest:
        progress.note("note", text="what breaks cost per step was not measured: the time limit was near")
        return
    mark_phase("between")
    try:
        rounds = beside.of_run(module, plan, job["backend"], time.time() + longest)
    except Exception as problem:
        progress.note("note", text=f"what breaks cost per step was not measured: {' '.join(str(problem).split())[:160]}")
        return
    if rounds:
        progress.note("steps", rounds=rounds)


def limit_memory(job: dict, device: torch.device) -> None:
    """Bound the process's data, so that greed ends in an error message and not in the machine's OOM killer.

    The default applies to the CPU alone: CUDA's driver maps far more than it uses.
    """
    limit = job["memory"] or (job["default_memory"] if job["memory"] is None and device.type == "cpu" else 0)
    if not limit:
        return
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    except (ImportError, ValueError, OSError):
        return


def _device_name(device: torch.device) -> str:
    if device.type != "cuda":
        return str(device)
    return f"{device} ({torch.cuda.get_device_name(device)})"
