"""breakscope run: a run under Dynamo, joined with source analysis of the same file."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope import __version__
from breakscope.dynamic import RunOptions, RunResult, run_fully
from breakscope.report.model import Report
from breakscope.static import analyze
from breakscope.workflows.joining import (
    gaps_as_notes,
    in_our_words,
    join_run,
    static_options,
)
from breakscope.workflows.silencing import silenced


def run(options: RunOptions) -> Report:
    """Run the target, predict the same file's breaks for the torch that ran, and join both.

    Raises UserError when the file does not exist or torch is not installed.
    """
    ran = run_fully(options)
    if options.watch is not None:
        options.watch("source analysis")
    joined = join_run(predict(options, ran), ran)
    return silenced(in_our_words(joined, ran, options.rules))


def predict(options: RunOptions, ran: RunResult) -> Report:
    """The static report on the target, as if the torch of the run were the installed one."""
    static = analyze(
        (options.file,), replace(static_options(ran, options.rules), entries=(options.target,))
    )
    failed = {error.path for error in ran.errors}
    return Report(
        version=__version__,
        torch=static.torch,
        findings=static.findings,
        files=static.files,
        regions=static.regions,
        errors=tuple(error for error in static.errors if error.path not in failed),
        hidden=static.hidden,
        notes=(*static.notes, *gaps_as_notes(static.gaps)),
    )
