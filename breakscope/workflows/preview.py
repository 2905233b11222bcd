"""breakscope run --fix-preview: what fixes of the code that ran this run proves."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.config import Config
from breakscope.dynamic import RunOptions
from breakscope.report.model import Report
from breakscope.workflows.check import CheckOptions
from breakscope.workflows.choice import Choice
from breakscope.workflows.fix import FixRequest, fix
from breakscope.workflows.joining import passed_through


def with_preview(report: Report, options: RunOptions, choice: Choice, config: Config) -> Report:
    """The report with what fixes of the files that the run passed through this target proves;
    nothing is written."""
    paths = dict.fromkeys((options.file, *passed_through(report.breaks)))
    asked = CheckOptions(paths=tuple(paths), entries=(options.target,), choice=choice)
    request = FixRequest(unsafe=True, write=False, verify=options)
    preview = fix(asked, request, config)
    return replace(report, errors=(*report.errors, *preview.errors), fixes=preview.fixes)
