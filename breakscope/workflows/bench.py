"""breakscope bench: what compiling costs and what it gains."""

from __future__ import annotations

from breakscope.dynamic.bench.options import BenchOptions
from breakscope.dynamic.bench.run import bench_target
from breakscope.report.bench import Bench


def bench(options: BenchOptions) -> Bench:
    """Measure the target in its modes; raises UserError when the file does not exist or torch is
    not installed."""
    return bench_target(options)
