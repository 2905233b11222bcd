"""A run, and behind it peel and radar where the options have them; these are imported only then."""

from __future__ import annotations

from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.options import RunOptions, RunResult


def run_fully(options: RunOptions) -> RunResult:
    """Run the target; with `peel` look behind its breaks, with `radar` for what will be compiled
    again."""
    ran = run_target(options)
    if options.peel:
        from breakscope.dynamic.modes.peel import peel

        ran = peel(options, ran, options.peel)
    if options.radar:
        from breakscope.dynamic.modes.radar import with_radar

        ran = with_radar(options, ran)
    return ran
