"""torch._dynamo's own account of its compiles (2.11 and 2.13 keep the same fields), as plain values."""

from __future__ import annotations

import torch._dynamo.utils as dynamo


def keep_all() -> None:
    """torch keeps the last 64 compiles unless told otherwise."""
    dynamo.set_compilation_metrics_limit(100_000)


def count() -> int:
    """How many compiles have ended so far, of those that are kept."""
    return len(dynamo._compilation_metrics)


def all_compiles() -> list[dict]:
    """Every compile that ended, in the fields of `breakscope.dynamic.bench.charges.Compile`."""
    return [_facts(entry) for entry in dynamo.get_compilation_metrics()]


def graphs(compiles: list[dict]) -> int:
    """How many compiles gave a graph with ops in it."""
    return sum(bool(c["ops"]) for c in compiles)


def cudagraph_skips() -> int:
    return int(dynamo.counters["inductor"].get("cudagraph_skips", 0))


def _facts(entry) -> dict:
    forward = entry.is_forward is not False
    frame_seconds = entry.entire_frame_compile_time_s if forward else None
    seconds = max(float(frame_seconds or 0.0), (entry.duration_us or 0) / 1e6)
    return {
        "compile_id": str(entry.compile_id or ""), "name": entry.co_name or "", "path": entry.co_filename or "",
        "line": entry.co_firstlineno or 0, "begin": (entry.start_time_us or 0) / 1e6, "seconds": seconds,
        "forward": forward, "before_restart": float(entry.dynamo_time_before_restart_s or 0.0) if forward else 0.0,
        "recompile_reason": entry.recompile_reason or "", "failed": forward and entry.graph_op_count is None,
        "fail_reason": entry.fail_reason or "", "fail_path": entry.fail_user_frame_filename or "",
        "fail_line": entry.fail_user_frame_lineno or 0, "ops": entry.graph_op_count or 0,
    }
