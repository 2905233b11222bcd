"""Bench: what `breakscope bench` measured, and its JSON form. Seconds and bytes; None where nothing
was measured."""

from __future__ import annotations

from typing import Literal

import msgspec

from breakscope.report.escaping import struct_json
from breakscope.report.fact import Fact
from breakscope.report.model import CudaGraph, Interval, ReportError

BENCH_SCHEMA_VERSION = "1"

ChargedTo = Literal[
    "start-up",
    "first compile",
    "fragments",
    "recompile",
    "CUDA graphs",
    "autotuning",
    "restarts",
    "given up",
]


class Charge(Fact):
    """A part of compilation time and what it is charged to ("given up": frames that are skipped);
    `family` only of a recompile."""

    to: ChargedTo
    seconds: float
    compiles: int
    family: str = ""


class Agreement(Fact):
    """The largest difference from eager over all tensors; relative to the largest value of the
    eager tensor.

    `random`: two eager runs with different seeds differ, so that a comparison proves nothing.
    """

    status: Literal["equal", "different", "random", "not compared"]
    tensors: int = 0
    max_absolute: float | None = None
    max_relative: float | None = None
    tolerance: float | None = None  # of the dtype of the worst tensor, relative
    detail: str = ""  # which tensor differs, or why nothing was compared


class Steps(Fact):
    """Steady-state step time over all rounds, and against eager: the median of the rounds' ratios."""

    steps: int
    rounds: int
    median_seconds: float
    p95_seconds: float
    ratio: float | None = None  # this mode's time over eager's
    ratio_interval: Interval | None = None
    verdict: Literal["", "faster", "slower", "no difference measured", "too noisy to tell"] = ""
    # by what share of it a round differs from the one before, in the median
    noise: float | None = None


class Mode(Fact):
    """One way to run the target."""

    name: str  # "eager", "default", "reduce-overhead", "max-autotune", "dynamic"
    meaning: str  # what it does on this device
    status: Literal["ok", "failed", "timeout", "not measured"]
    problem: str = ""
    # the time that it had for compiling, where it did not end within it
    limit_seconds: float | None = None
    first_call_seconds: float | None = None
    warm_up_steps: int = 0
    # wall time of compiling: of the calls that compiled, less a steady step each
    compile_seconds: float | None = None
    attributed: float | None = None  # the share of it that `charges` explain, 0 to 1
    charges: tuple[Charge, ...] = ()
    graphs: int = 0
    still_compiling: bool = False  # the warm-up ended before the compiling did
    steps: Steps | None = None
    peak_bytes: int | None = None  # while stepping: resident memory on the CPU, allocated on a GPU
    peak_warm_up_bytes: int | None = None
    # the share of a step's time in which the GPU runs something, 0 to 1; None on the CPU
    gpu_busy: float | None = None
    cuda_graphs: tuple[CudaGraph, ...] = ()  # left out or recorded again while warming up
    pays_after_steps: int | None = None
    outputs: Agreement | None = None
    gradients: Agreement | None = None
    notes: tuple[str, ...] = ()


class Coverage(Fact):
    """The share of eager op time that lies inside captured graphs; `ops` is the same by number of
    ops."""

    share: float
    ops_share: float
    compiled_ops: int
    eager_ops: int
    eager_top: tuple[str, ...] = ()  # the ops outside of graphs that take most time


class Site(Fact):
    """A place where the graph ends, or where the frame is skipped (`lost`)."""

    path: str
    line: int
    function: str
    lost: bool = False


class Saving(Fact):
    """What a step would save were there no breaks: measured on the same step traced into one graph."""

    mode: str
    sites: tuple[Site, ...]
    seconds: float | None = None  # per step; None when not measured or smaller than the noise
    interval: Interval | None = None
    problem: str = ""


class Bench(Fact):
    """All that one `breakscope bench` measured."""

    version: str  # of breakscope
    torch: str
    python: str
    target: str
    device: str
    backend: str
    backward: bool
    threads: int
    # of steps; "cpu" leaves out the time that other processes took
    clock: Literal["", "wall", "cpu", "device"] = ""
    modes: tuple[Mode, ...] = ()
    coverage: Coverage | None = None
    saving: Saving | None = None
    # the mode to use; "eager" when compiling does not pay; "" when the measurement allows none
    use: str = ""
    verdict: str = ""
    errors: tuple[ReportError, ...] = ()
    notes: tuple[str, ...] = ()
    schema: str = BENCH_SCHEMA_VERSION


def bench_to_json(bench: Bench) -> bytes:
    """The measurement as UTF-8 JSON with a newline at the end."""
    return struct_json(bench)


def bench_from_json(data: bytes) -> Bench:
    """Read what `bench_to_json` wrote; raises ValueError that names the wrong field."""
    return msgspec.json.decode(data, type=Bench)


def is_bench(data: bytes) -> bool:
    """True for what `bench_to_json` wrote; False for a report, and for what is no JSON."""
    try:
        document = msgspec.json.decode(data)
    except ValueError:
        return False
    return isinstance(document, dict) and "modes" in document
