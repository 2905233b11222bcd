"""bench_target: prepare one worker for each mode, let them step in turns, and put together what was
measured."""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import msgspec

from breakscope import __version__, limits
from breakscope.dynamic.bench.charges import (
    Call,
    Compile,
    break_sites,
    charge,
    compile_wall,
    start_up,
)
from breakscope.dynamic.bench.decide import decide
from breakscope.dynamic.bench.options import (
    DEFAULT,
    EAGER,
    MODES,
    OF_INDUCTOR,
    BenchOptions,
    meaning,
)
from breakscope.dynamic.bench.saving import saved
from breakscope.dynamic.bench.turns import Rounds, against, block_length, describe, in_turns
from breakscope.dynamic.bench.worker import Worker, WorkerError, worker_folder
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.observations.cuda_graphs import captured_cuda_graphs
from breakscope.dynamic.observations.ownership import Places
from breakscope.errors import UserError
from breakscope.report.bench import Agreement, Bench, Coverage, Mode, Saving, Site
from breakscope.report.model import CudaGraph, ReportError
from breakscope.report.paths import shown_path
from breakscope.texts import missing_file

FALLBACK = "aot_eager"


@dataclass
class Prepared:
    """What a worker answered when it was warm."""

    mode: str
    answer: dict = field(default_factory=dict)
    problem: WorkerError | None = None
    limit: float | None = None  # seconds that it had, where they were not enough
    skipped: str = ""

    @property
    def compiles(self) -> list[Compile]:
        names = Compile.__dataclass_fields__
        return [
            Compile(**{k: v for k, v in c.items() if k in names})
            for c in self.answer.get("compiles", ())
        ]

    @property
    def calls(self) -> list[Call]:
        return [Call(**c) for c in self.answer.get("calls", ())]


def bench_target(options: BenchOptions) -> Bench:
    """Measure a target in eager and in the modes of the options.

    Raises UserError when the file does not exist, torch is not installed, or the system lacks what
    workers need. What the user's code does is reported in `errors` and in each mode's `problem`.
    """
    _refuse(options)
    options, notes = _with_compiler(options)
    deadline = time.time() + options.timeout
    ready_by = deadline - limits.SHARE_FOR_STEPS * options.timeout
    with ExitStack() as stack:
        parent = stack.enter_context(run_folder())
        workers: dict[str, Worker] = {}

        def prepare(mode: str, ready_by: float = ready_by) -> Prepared:
            """A mode compiled and warm, and its worker waiting; or what kept it from that."""
            began = time.time()
            folder, reference = worker_folder(parent, mode), parent / "eager.pt"
            warm_by = began + limits.SHARE_FOR_WARMING * (ready_by - began)
            worker = stack.enter_context(
                Worker(mode, options, folder, reference, deadline, warm_by)
            )
            try:
                answer = worker.answer(ready_by)
            except WorkerError as problem:
                worker.stop()
                return Prepared(
                    mode, problem=problem, limit=time.time() - began if problem.timed_out else None
                )
            workers[mode] = worker
            return Prepared(mode, answer)

        eager = prepare(EAGER)
        if eager.problem is not None:
            return _failed(options, eager.problem, notes)
        coverage, more = _coverage(prepare("coverage")) if options.coverage else (None, ())
        prepared = [eager, *_in_order(options, prepare, ready_by)]
        workers.pop("coverage", None)
        default = next((p for p in prepared if p.mode == DEFAULT and p.answer), None)
        sites = _sites(default) if default else ()
        step = median(call.seconds for call in eager.calls)
        rounds, dropped = in_turns(
            list(workers.values()),
            options.rounds,
            block_length(step, eager.answer["turn"]),
            deadline,
        )
        peaks = {
            mode: _peak(worker, deadline) for mode, worker in workers.items() if mode not in dropped
        }
        saving = _saving(
            sites, options, workers.get(DEFAULT) if DEFAULT not in dropped else None, deadline
        )
    modes = tuple(
        _mode(p, options, rounds, dropped.get(p.mode), peaks, eager.calls[0].seconds)
        for p in prepared
    )

    def between(first: str, second: str) -> str:
        found = (
            against(rounds[first], rounds[second]) if first in rounds and second in rounds else None
        )
        return found[2] if found else ""

    left_out = [mode for mode in MODES if mode not in options.modes]
    use, verdict = decide(
        modes, between, left_out if options.backend == "inductor" else (), coverage, saving
    )
    answer = eager.answer
    return Bench(
        version=__version__,
        torch=answer["torch"],
        python=answer["python"],
        target=options.target,
        device=answer["device"],
        backend=options.backend,
        backward=answer["backward"],
        threads=answer["threads"],
        clock=answer["clock"],
        modes=modes,
        coverage=coverage,
        saving=saving,
        use=use,
        verdict=verdict,
        errors=_errors(prepared, dropped),
        notes=(*notes, *more, *_about_backward(options, answer)),
    )


def _in_order(
    options: BenchOptions, prepare: Callable[[str, float], Prepared], ready_by: float
) -> Iterator[Prepared]:
    """The modes of the options, each with its share of the time that is left."""
    waiting = [mode for mode in options.modes if _skipped(mode, options) is None]
    for mode in options.modes:
        now = time.time()
        if mode not in waiting:
            yield _skipped(mode, options)
        elif now > ready_by:
            yield Prepared(mode, skipped="no time was left for it; --timeout gives more")
        else:
            limit = options.mode_timeout or (ready_by - now) / len(waiting)
            yield prepare(mode, min(ready_by, now + limit))
            waiting.remove(mode)


def _refuse(options: BenchOptions) -> None:
    path = Path(options.file)
    if not path.is_file():
        raise UserError(
            f"{options.file} is a folder; name a file: {options.file}/FILE.py::NAME"
            if path.exists()
            else missing_file(options.file)
        )
    if importlib.util.find_spec("torch") is None:
        raise UserError("measuring a model needs torch: install it with `pip install torch`")
    if os.name != "posix":
        raise UserError("`breakscope bench` needs Linux or macOS")


def _with_compiler(options: BenchOptions) -> tuple[BenchOptions, tuple[str, ...]]:
    """inductor compiles C++ on the CPU, and on a GPU what launches its kernels; without a compiler,
    the next best."""
    compiler = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    if options.backend != "inductor" or shutil.which(compiler.split()[0]):
        return options, ()
    note = (
        f"there is no C++ compiler ({compiler}), which inductor needs, so the backend {FALLBACK} was measured instead: "
        "it captures graphs but makes no faster code of them"
    )
    return replace(options, backend=FALLBACK), (note,)


def _skipped(mode: str, options: BenchOptions) -> Prepared | None:
    if mode in OF_INDUCTOR and options.backend != "inductor":
        return Prepared(mode, skipped=f"a mode of inductor; the backend {options.backend} has none")
    return None


def _coverage(prepared: Prepared) -> tuple[Coverage | None, tuple[str, ...]]:
    if prepared.problem is not None:
        return None, (f"compile coverage was not measured: {prepared.problem}",)
    answer = prepared.answer
    if answer["share"] is None:
        return None, ("compile coverage was not measured: the step runs no op",)
    return Coverage(
        **{
            **answer,
            "eager_top": tuple(answer["eager_top"]),
            "share": round(answer["share"], 4),
            "ops_share": round(answer["ops_share"], 4),
        }
    ), ()


def _mode(
    prepared: Prepared,
    options: BenchOptions,
    rounds: dict[str, Rounds],
    dropped: WorkerError | None,
    peaks: dict[str, int | None],
    cold_step: float,
) -> Mode:
    name, answer = prepared.mode, prepared.answer
    mode = Mode(
        name=name,
        meaning=meaning(name, options.backend, answer.get("device", "").startswith("cuda")),
        status="ok",
    )
    problem = prepared.problem or dropped
    if prepared.skipped:
        return msgspec.structs.replace(mode, status="not measured", problem=prepared.skipped)
    if answer:
        mode = _with_warm_up(mode, prepared, cold_step)
    if problem is not None:
        return msgspec.structs.replace(
            mode,
            status="timeout" if problem.timed_out else "failed",
            limit_seconds=prepared.limit,
            problem=_too_slow(prepared.limit) if problem.timed_out else str(problem),
        )
    if name not in rounds or not rounds[name]:
        return msgspec.structs.replace(
            mode, status="timeout", problem="no time was left to measure steps"
        )
    steps = describe(rounds[name], rounds.get(EAGER) if name != EAGER else None)
    busy = answer.get("busy")
    mode = msgspec.structs.replace(
        mode,
        steps=steps,
        peak_bytes=peaks.get(name),
        gpu_busy=min(1.0, busy / steps.median_seconds) if busy else None,
    )
    return msgspec.structs.replace(mode, pays_after_steps=_pays_after(mode))


def _too_slow(limit: float | None) -> str:
    if limit is None:
        return "the time limit (--timeout) ended it while it stepped"
    return (
        f"it did not end compiling within the {limit:.0f} s that it had; --mode-timeout gives each mode more, within "
        "--timeout"
    )


def _with_warm_up(mode: Mode, prepared: Prepared, cold_step: float) -> Mode:
    answer, calls = prepared.answer, prepared.calls
    mode = msgspec.structs.replace(
        mode,
        first_call_seconds=calls[0].seconds,
        warm_up_steps=len(calls),
        peak_warm_up_bytes=answer["warm_up_peak"],
    )
    if mode.name == EAGER:
        return mode
    charges = charge(prepared.compiles, start_up(calls, prepared.compiles, answer["start_up"]))
    wall = compile_wall(calls, answer["start_up"], cold_step)
    agreement = {part: Agreement(**facts) for part, facts in answer["agreement"].items()}
    return msgspec.structs.replace(
        mode,
        compile_seconds=wall,
        charges=charges,
        graphs=answer["graphs"],
        **agreement,
        attributed=min(1.0, sum(c.seconds for c in charges) / wall) if wall else None,
        still_compiling=bool(calls[-1].compiles),
        cuda_graphs=_cuda_graphs(answer) if answer["device"].startswith("cuda") else (),
    )


def _cuda_graphs(answer: dict) -> tuple[CudaGraph, ...]:
    """Those that inductor left out or recorded again while the mode warmed up."""
    found = captured_cuda_graphs(answer["cuda_graphs"], Places.here(answer["torch_root"]))
    return tuple(
        msgspec.structs.replace(each, path=shown_path(each.path, Path.cwd())) if each.path else each
        for each in found
    )


def _errors(prepared: list[Prepared], dropped: dict[str, WorkerError]) -> tuple[ReportError, ...]:
    """What modes raised, with the user's traceback; the time limit is reported in the modes alone."""
    problems = [p.problem or dropped.get(p.mode) for p in prepared]
    return tuple(
        dict.fromkeys(e for p in problems if p is not None and not p.timed_out for e in p.errors)
    )


def _pays_after(mode: Mode) -> int | None:
    """Steps until the time saved is the time spent on compiling; None when nothing is measurably
    saved."""
    steps = mode.steps
    if steps.verdict != "faster" or mode.compile_seconds is None:
        return None
    saved = steps.median_seconds / steps.ratio - steps.median_seconds
    return math.ceil(mode.compile_seconds / saved) if saved > 0 else None


def _sites(prepared: Prepared) -> tuple[Site, ...]:
    """The break sites in the user's code; a break inside of Python's own library has one in its
    caller too."""
    places = Places.here(prepared.answer["torch_root"])
    return tuple(site for site in break_sites(prepared.compiles) if places.is_user(site.path))


def _saving(
    sites: tuple[Site, ...], options: BenchOptions, worker: Worker | None, deadline: float
) -> Saving | None:
    """What removing all breaks would save in mode default: its worker steps beside the same step as
    one graph."""
    if not sites:
        return None
    result = Saving(
        mode=DEFAULT,
        sites=tuple(
            msgspec.structs.replace(site, path=shown_path(site.path, Path.cwd())) for site in sites
        ),
    )
    if worker is None or not options.estimate:
        why = "--no-estimate" if worker else "mode default had dropped out before"
        return msgspec.structs.replace(result, problem=why)
    try:
        rounds = worker.send(deadline, do="beside", others=[{}])
    except WorkerError as problem:
        why = "no time was left" if problem.timed_out else str(problem)
        return msgspec.structs.replace(result, problem=why)
    return saved(result, rounds)


def _peak(worker: Worker, deadline: float) -> int | None:
    try:
        return worker.send(deadline + 5.0, do="peak")["peak"]
    except WorkerError:
        return None


def _about_backward(options: BenchOptions, answer: dict) -> tuple[str, ...]:
    if options.backward and not answer["backward"]:
        return ("forward only: no output requires gradients",)
    return ()


def _failed(options: BenchOptions, problem: WorkerError, notes: tuple[str, ...]) -> Bench:
    errors = problem.errors or (ReportError(message=str(problem), path=options.file),)
    return Bench(
        version=__version__,
        torch="",
        python="",
        target=options.target,
        device=options.device or "",
        backend=options.backend,
        backward=False,
        threads=0,
        errors=errors,
        notes=notes,
        verdict="No mode can be chosen: the target does not run without torch.compile.",
    )
