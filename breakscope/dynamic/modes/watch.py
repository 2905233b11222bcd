"""What was captured in this process while a block ran, as findings and facts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from breakscope.dynamic.capture.in_process import Captured
from breakscope.dynamic.modes.trace import result_of, switched_off
from breakscope.dynamic.observations.traces import understand
from breakscope.dynamic.options import RunResult
from breakscope.dynamic.trace.processes import Process
from breakscope.dynamic.trace.records import read_blocks
from breakscope.report.model import ReportError
from breakscope.texts import exception_text

NOTHING = (
    "no compile was seen: the block compiled nothing, or ran only what had been compiled before "
    "(watch from the first call on, or call `torch._dynamo.reset()` before)"
)
LOGGER_OFF = "the logger `torch.__trace` is disabled (as logging.config does unless disable_existing_loggers is False)"


def captured_result(
    captured: Captured, target: str, rules: tuple[str, ...], problem: BaseException | None
) -> RunResult:
    """The findings and facts of what was captured; `problem` is the exception that ended the
    block."""
    torch = sys.modules.get("torch")
    root = str(Path(torch.__file__).parent) if torch and getattr(torch, "__file__", None) else ""
    traced = understand(
        _processes(captured), root=root, version=str(getattr(torch, "__version__", ""))
    )
    status = "failed" if problem is not None else "ok" if traced.seen.records else "no-capture"
    errors = (
        ()
        if problem is None
        else (ReportError(message=f"the block ended with {exception_text(problem)}"),)
    )
    notes = (
        *switched_off(),
        *((LOGGER_OFF,) if captured.disabled else ()),
        *(() if traced.seen.records else (NOTHING,)),
    )
    if captured.unkept:
        notes = (*notes, f"{captured.unkept} of Dynamo's records could not be kept")
    return result_of(traced, target, status, rules, errors, notes, None)


def _processes(captured: Captured) -> list[Process]:
    records = tuple(read_blocks(captured.blocks, captured.names))
    rank = next((record.rank for record in records if record.rank is not None), None)
    return [Process(os.getpid(), rank, records)] if records else []
