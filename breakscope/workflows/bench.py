"""breakscope bench: what compiling costs and what it gains."""

from __future__ import annotations

from breakscope.dynamic.bench import BenchOptions, bench_target
from breakscope.report.bench import Bench


def bench(options: BenchOptions) -> Bench:
    """Measure the target in its modes; raises UserError when the file does not exist or torch is not installed."""
    return bench_target(options)
