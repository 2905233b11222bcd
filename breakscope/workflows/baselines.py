"""Baselines: what a project knew of when it wrote one is no news."""

from __future__ import annotations

import os

from msgspec.structs import replace

from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.reading import NotThere, Unreadable, read_file
from breakscope.report.comparing import baseline
from breakscope.report.comparing.baseline import KnownBefore, Scope
from breakscope.report.model import Report
from breakscope.report.selection import Selection
from breakscope.report.summary import count
from breakscope.texts import missing_file
from breakscope.workflows.choice import BaselineChoice


def with_baseline(
    report: Report,
    choice: BaselineChoice,
    config: Config,
    selection: Selection,
    asked: frozenset[str] | None = None,
) -> Report:
    """The report's news, where there is a baseline. `asked` are the checked files, None where not
    all of the code in them was looked at. Raises UserError for a file that is no baseline."""
    if not choice.is_wanted(config):
        return report
    file = choice.file or config.baseline or baseline.DEFAULT_FILE
    failed = {error.path for error in report.errors}
    scope = Scope(
        asked=None if asked is None else asked - failed,
        shows=selection.selects,
        possible=selection.show_possible,
    )
    known = _read(file, may_be_missing=choice.write)
    if choice.write:
        known = baseline.renewed(report, known, file, scope)
        _write(file, baseline.written(known))
        report = replace(report, notes=(*report.notes, _wrote(file, known)))
    return baseline.compared(report, known, file, scope)


def _wrote(file: str, known: KnownBefore) -> str:
    runs = f" and {count(len(known.runs), 'run')}" if known.runs else ""
    return f"wrote {count(len(known.findings), 'finding')}{runs} to the baseline {file}"


def _read(file: str, may_be_missing: bool) -> KnownBefore:
    try:
        return baseline.read(read_file(file))
    except NotThere:
        if may_be_missing:
            return KnownBefore()
        hint = missing_file(file)
        raise UserError(f"the baseline: {hint} (`--write-baseline` writes one)") from None
    except Unreadable as problem:
        raise UserError(f"the baseline {file} {problem}") from None
    except ValueError as problem:
        raise UserError(f"{file} is no baseline: {problem}") from None


def _write(file: str, data: bytes) -> None:
    beside = f"{file}.tmp"
    try:
        with open(beside, "wb") as stream:
            stream.write(data)
        os.replace(beside, file)
    except OSError as problem:
        raise UserError(f"cannot write {file}: {problem.strerror}") from None
