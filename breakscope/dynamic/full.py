"""A run with all that was asked for behind it. What few runs ask for is imported when they do."""

from __future__ import annotations

from breakscope.dynamic.options import RunOptions, RunResult
from breakscope.dynamic.run import run_target


def run_fully(options: RunOptions) -> RunResult:
    """Run the target; with `peel` look behind its breaks, with `radar` for what will be compiled again."""
    ran = run_target(options)
    if options.peel:
        from breakscope.dynamic.peel import peel

        ran = peel(options, ran, options.peel)
    if options.radar:
        from breakscope.dynamic.radar import with_radar

        ran = with_radar(options, ran)
    return ran
