"""breakscope.watch: what Dynamo does while a block of this process runs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from breakscope import __version__
from breakscope.dynamic import captured_result, listening
from breakscope.dynamic.capture.in_process import Captured
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report, ReportError
from breakscope.rulekit.loader import load_rules
from breakscope.workflows.trace import explain


@contextmanager
def watch(*, rules: Sequence[str] = (), source: bool = True) -> Iterator[Report]:
    """Watch the block: `with breakscope.watch() as report: step()`.

    The report is filled when the block ends, also when it ends with an exception, which goes on its
    way. What Dynamo compiled before the block is not seen again. Compiles of all threads are seen,
    and blocks may be nested. Of torch and its logging nothing is changed. `rules` are folders of
    your own rules; raises RuleError when they are wrong. When the block ends, the source of the
    files where something was seen is analysed: that gives the cause in our words, confirmed
    findings and rewrites. `source=False` leaves it out, as it takes time: the findings are the same
    places in Dynamo's words, all `observed`.
    """
    load_rules(tuple(rules))
    report, target, problem = Report(version=__version__, torch=""), _caller(), None
    with listening() as captured:
        try:
            yield report
        except BaseException as raised:
            problem = raised
    _fill(report, _explained(captured, target, tuple(rules), source, problem))
    try:
        if problem is not None:
            raise problem
    finally:
        problem = None  # which holds this frame, and with it all of the block's values


def as_text(report: Report) -> str:
    """The report as `breakscope trace` prints it, without colour."""
    return render(report, "text", RenderOptions())


def _explained(
    captured: Captured,
    target: str,
    rules: tuple[str, ...],
    source: bool,
    problem: BaseException | None,
) -> Report:
    """Never raises: a fault of ours becomes an error of the report."""
    try:
        return explain(captured_result(captured, target, rules, problem), rules, source)
    except Exception as fault:
        if os.environ.get("BREAKSCOPE_DEBUG"):
            raise
        message = f"internal error: {type(fault).__name__}: {fault}; BREAKSCOPE_DEBUG=1 shows where"
        return Report(version=__version__, torch="", errors=(ReportError(message=message),))


def _fill(report: Report, filled: Report) -> None:
    """The one place where a report changes: the block has held it since before there was anything
    to report."""
    for name in report.__struct_fields__:
        msgspec.structs.force_setattr(report, name, getattr(filled, name))


def _caller() -> str:
    """FILE:LINE of the `with` statement."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename == contextlib.__file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
