"""breakscope.watch: what Dynamo does while a block of this process runs."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from breakscope import __version__
from breakscope.dynamic import captured_result, listening
from breakscope.dynamic.capture.in_process import Captured
from breakscope.reading import holding
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report, ReportError
from breakscope.rulekit.loader import load_rules
from breakscope.workflows.notebook import ShownReport
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
    with watching(_caller(), tuple(rules), source) as report:
        yield report


@contextmanager
def watching(
    target: str, rules: tuple[str, ...], source: bool, entries: tuple[str, ...] = ()
) -> Iterator[Report]:
    """Watch the block under a name of its own; `entries` are what it compiles, as far as that is
    known."""
    load_rules(rules)
    report, problem = ShownReport(version=__version__, torch=""), None
    with listening() as captured:
        try:
            yield report
        except BaseException as raised:
            problem = raised
    _fill(report, _explained(captured, target, rules, source, problem, entries))
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
    entries: tuple[str, ...],
) -> Report:
    """Never raises: a fault of ours becomes an error of the report."""
    try:
        with holding(_cells()):
            return explain(
                captured_result(captured, target, rules, problem), rules, source, entries
            )
    except Exception as fault:
        if os.environ.get("BREAKSCOPE_DEBUG"):
            raise
        message = f"internal error: {type(fault).__name__}: {fault}; BREAKSCOPE_DEBUG=1 shows where"
        return Report(version=__version__, torch="", errors=(ReportError(message=message),))


def _cells() -> dict[str, bytes]:
    """The source of what runs here and has no file, by name: cells of a notebook or of IPython,
    which keep theirs where Python's tracebacks look for it."""
    return {
        name: "".join(entry[2]).encode("utf-8", "surrogatepass")
        for name, entry in list(linecache.cache.items())
        # an entry of one element is not loaded yet, and one with a time is that of a file
        if len(entry) == 4 and entry[1] is None and entry[2] and not os.path.exists(name)
    }


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
