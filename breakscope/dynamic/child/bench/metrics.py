"""torch._dynamo's own account of its compiles (2.11 and 2.13 keep the same fields), as plain
values."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field

import torch._dynamo.convert_frame as convert_frame
import torch._dynamo.utils as dynamo


@dataclass
class Spans:
    """When Dynamo was busy with a frame, as (begin, end) in time.time(), from its first to its last
    line about it.

    What its own account calls the whole frame leaves out the setting up, the keeping of its records
    and the installing of guards and code.
    """

    seen: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def watch(cls) -> Spans:
        """From now on; without the function that is watched, as in some other version of torch,
        nothing is seen."""
        spans = cls()
        compile_frame = getattr(convert_frame, "_compile", None)
        if compile_frame is None:
            return spans

        @functools.wraps(compile_frame)
        def watched(*args, **kwargs):
            begin = time.time()
            try:
                return compile_frame(*args, **kwargs)
            finally:
                spans.seen.append((begin, time.time()))

        convert_frame._compile = watched
        return spans

    def around(self, begin: float, end: float) -> tuple[float, float]:
        """The shortest span around a compile; the compile itself where none is."""
        found = [
            span
            for span in self.seen
            if span[0] <= begin + MICROSECOND and end <= span[1] + MICROSECOND
        ]
        return min(found, key=lambda span: span[1] - span[0], default=(begin, end))


MICROSECOND = 1e-6
RESUMED = "torch_dynamo_resume_in_"
NOTHING_SEEN = Spans()


def keep_all() -> None:
    """torch keeps the last 64 compiles unless this limit is raised."""
    dynamo.set_compilation_metrics_limit(100_000)


def count() -> int:
    """How many compiles have ended so far, of those that are kept."""
    return len(dynamo._compilation_metrics)


def all_compiles(spans: Spans = NOTHING_SEEN) -> list[dict]:
    """Every compile that ended, in the fields of `breakscope.dynamic.bench.charges.Compile`."""
    return [_with_span(_facts(entry), spans) for entry in dynamo.get_compilation_metrics()]


def _with_span(compile: dict, spans: Spans) -> dict:
    if not compile["forward"]:
        return compile
    begin, end = spans.around(compile["begin"], compile["begin"] + compile["seconds"])
    return compile | {"begin": begin, "seconds": end - begin}


def graphs(compiles: list[dict]) -> int:
    """How many compiles gave a graph with ops in it."""
    return sum(bool(c["ops"]) for c in compiles)


def is_broken(compile: dict) -> bool:
    """The compile is of what a break left of a frame, or of a frame that is skipped."""
    return RESUMED in compile["name"] or bool(compile["failed"] and compile["fail_reason"])


def _facts(entry) -> dict:
    forward = entry.is_forward is not False
    frame_seconds = entry.entire_frame_compile_time_s if forward else None
    seconds = max(float(frame_seconds or 0.0), (entry.duration_us or 0) / 1e6)
    return {
        "compile_id": str(entry.compile_id or ""),
        "name": entry.co_name or "",
        "path": entry.co_filename or "",
        "line": entry.co_firstlineno or 0,
        "runtime": made_at_runtime(entry),
        "begin": (entry.start_time_us or 0) / 1e6,
        "seconds": seconds,
        "forward": forward,
        "before_restart": float(entry.dynamo_time_before_restart_s or 0.0) if forward else 0.0,
        "recompile_reason": entry.recompile_reason or "",
        "failed": forward and entry.graph_op_count is None,
        "fail_reason": entry.fail_reason or "",
        "fail_path": entry.fail_user_frame_filename or "",
        "fail_line": entry.fail_user_frame_lineno or 0,
        "ops": entry.graph_op_count or 0,
    }


def made_at_runtime(entry) -> str:
    """What an entry made while its graph ran, "" for a compile: see `runtime_cudagraphify_time_us`
    and its neighbour in torch._dynamo.utils.CompilationMetrics. Recording a graph runs its kernels,
    so that these may be tuned in it."""
    if not getattr(entry, "is_runtime", False):
        return ""
    tuned, recorded = (
        getattr(entry, f"runtime_{what}_time_us", None)
        for what in ("triton_autotune", "cudagraphify")
    )
    return "autotuning" if tuned and not recorded else "CUDA graphs"
