"""A run, and behind it prove, peel, radar and repro where the options have them;
these are imported only then."""

from __future__ import annotations

from collections.abc import Callable

from breakscope.dynamic.modes.live import Look
from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.modes.trace import trace_program
from breakscope.dynamic.options import RunOptions, RunResult, TraceOptions


def run_fully(options: RunOptions) -> RunResult:
    """Run the target; with `prove` try what may remove its findings, with `peel` look behind its
    breaks, with `radar` for what will be compiled again, with `repro` for a small program."""
    if options.repro:
        from breakscope.dynamic.modes.repro import refuse_file

        refuse_file(options.repro)
    if options.fake is not None and options.fake.world_size > 1:
        from breakscope.dynamic.modes.fake_ranks import run_ranks

        ran = run_ranks(options)
    else:
        ran = run_target(options)
    if options.prove:
        from breakscope.dynamic.modes.prove import prove

        ran = prove(options, ran)
    if options.peel:
        from breakscope.dynamic.modes.peel import peel

        ran = peel(options, ran, options.peel)
    if options.radar:
        from breakscope.dynamic.modes.radar import with_radar

        ran = with_radar(options, ran)
    if options.repro:
        from breakscope.dynamic.modes.repro import with_repro

        ran = with_repro(options, ran)
    return ran


def trace_fully(
    options: TraceOptions,
    watch: Callable[[Look], None] | None,
    say: Callable[[str], None] | None = None,
) -> RunResult:
    """Run a program and report on it; with `prove` try what may remove its findings, which `say`
    receives."""
    ran = trace_program(options, watch)
    if options.prove:
        from breakscope.dynamic.modes.prove import prove_program

        ran = prove_program(options, ran, say)
    return ran
