"""Compilation time, and what it is charged to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.trace.frames import original_name
from breakscope.report.bench import Charge, Site


@dataclass(frozen=True)
class Compile:
    """One entry of torch._dynamo's compilation metrics. `begin` and `seconds` are wall time; a
    backward pass that compiles is an entry of its own with `forward` False and no name; so is what
    is made while a graph already runs: `runtime` names it, "CUDA graphs" or "autotuning" (of Triton
    kernels, at their first launch)."""

    compile_id: str
    name: str
    path: str
    line: int
    begin: float
    seconds: float
    forward: bool
    before_restart: float
    recompile_reason: str
    failed: bool
    fail_reason: str
    fail_path: str
    fail_line: int
    runtime: str = ""


@dataclass(frozen=True)
class Call:
    """One warm-up step: its wall seconds, how many compiles ended in it, and when it began
    (time.time())."""

    seconds: float
    compiles: int
    begin: float = 0.0


def compile_wall(calls: Sequence[Call], made: float, cold_step: float = 0.0) -> float:
    """Wall seconds of compiling: making the compiled callable (`made`), and the calls that
    compiled, less a step each.

    Of the first call `cold_step` is taken away, eager's first step, which finds everything cold as
    well; of the others a steady step.
    """
    steady = [call.seconds for call in calls if not call.compiles]
    step = median(steady) if steady else 0.0
    steps = [max(step, cold_step), *[step] * len(calls)]
    return made + sum(
        max(0.0, call.seconds - own)
        for call, own in zip(calls, steps, strict=False)
        if call.compiles
    )


def start_up(calls: Sequence[Call], compiles: Sequence[Compile], made: float) -> float:
    """Seconds until the first frame was looked at: making the compiled callable, and the way into
    its first call."""
    if not compiles or not calls or not calls[0].begin:
        return made
    return made + min(max(0.0, min(c.begin for c in compiles) - calls[0].begin), calls[0].seconds)


def charge(compiles: Sequence[Compile], start_up: float = 0.0) -> tuple[Charge, ...]:
    """Every compile's own seconds charged once: to the first compile of the target, to fragments
    (the other frames that breaks left), to a family of recompiles, to CUDA graphs recorded and
    kernels tuned later, to frames that are skipped ("given up"), and to attempts that Dynamo began again."""
    sums: dict[tuple[str, str], list[float]] = {}

    def add(to: str, seconds: float, family: str = "") -> None:
        entry = sums.setdefault((to, family), [0.0, 0])
        entry[0] += seconds
        entry[1] += 1

    if start_up:
        add("start-up", start_up)
    own = own_seconds(compiles)
    first = _frame(min(compiles, key=lambda c: c.begin).compile_id) if compiles else ""
    forwards = {c.compile_id: c for c in compiles if c.forward and not c.runtime}
    for compile, seconds in zip(compiles, own, strict=True):
        restarted = min(compile.before_restart, seconds)
        if restarted:
            add("restarts", restarted)
        if compile.runtime:
            add(compile.runtime, seconds)
        else:
            add(*_account(forwards.get(compile.compile_id, compile), first, seconds - restarted))
    order = (
        "start-up",
        "first compile",
        "fragments",
        "recompile",
        "CUDA graphs",
        "autotuning",
        "restarts",
        "given up",
    )
    return tuple(
        Charge(to=to, family=family, seconds=round(seconds, 6), compiles=int(number))
        for (to, family), (seconds, number) in sorted(
            sums.items(), key=lambda i: (order.index(i[0][0]), -i[1][0])
        )
    )


def own_seconds(compiles: Sequence[Compile]) -> list[float]:
    """The seconds of each compile without those of compiles that ran inside of it."""
    own = [c.seconds for c in compiles]
    open_: list[int] = []
    for index in sorted(
        range(len(compiles)), key=lambda i: (compiles[i].begin, -compiles[i].seconds)
    ):
        compile = compiles[index]
        while (
            open_
            and compiles[open_[-1]].begin + compiles[open_[-1]].seconds <= compile.begin + 1e-6
        ):
            open_.pop()
        if open_:
            own[open_[-1]] -= compile.seconds
        open_.append(index)
    return [max(0.0, seconds) for seconds in own]


def break_sites(compiles: Sequence[Compile]) -> tuple[Site, ...]:
    """Where graphs ended, as far as compiles show: lines that a resume function follows, and skipped
    frames."""
    sites: dict[tuple[str, int], Site] = {}
    for compile in compiles:
        resumed = original_name(compile.name) != compile.name
        line = compile.name.rpartition("_at_")[2] if resumed else ""
        if line.isdigit():
            sites.setdefault(
                (compile.path, int(line)),
                Site(path=compile.path, line=int(line), function=original_name(compile.name)),
            )
        if compile.failed and compile.fail_reason and compile.path:
            place = (compile.fail_path or compile.path, compile.fail_line or compile.line)
            sites[place] = Site(
                path=place[0], line=place[1], function=original_name(compile.name), lost=True
            )
    return tuple(sites.values())


def _account(compile: Compile, first: str, seconds: float) -> tuple[str, float, str]:
    frame, number = (
        _frame(compile.compile_id),
        compile.compile_id.rpartition("/")[2].partition("_")[0],
    )
    if compile.recompile_reason or number not in ("", "0"):
        family = (
            read_guard(compile.recompile_reason).family if compile.recompile_reason else "other"
        )
        return "recompile", seconds, family
    if compile.failed and compile.fail_reason:
        return "given up", seconds, ""
    return ("first compile" if frame == first else "fragments"), seconds, ""


def _frame(compile_id: str) -> str:
    return compile_id.rpartition("/")[0]
