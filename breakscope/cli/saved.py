"""Reports and traces that were saved, as reports."""

from __future__ import annotations

from pathlib import Path

from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.reading import Unreadable, read_file
from breakscope.report.bench import is_bench
from breakscope.report.model import Report, from_json
from breakscope.texts import missing_file


def read_reports(
    files: tuple[str, ...], source_roots: tuple[str, ...], config: Config
) -> list[Report]:
    """One report for all traces, and the saved ones; raises UserError for what is neither."""
    reports, traces = [], []
    for file in files:
        try:
            if not Path(file).exists():
                raise UserError(missing_file(file))
            if not (Path(file).is_dir() or Path(file).is_file()):
                raise UserError(f"neither a file nor a folder: {file}")
            if Path(file).is_dir() or not is_json(Path(file)):
                traces.append(Path(file))
            else:
                reports.append(from_json(read_file(file)))
        except Unreadable as problem:
            raise UserError(f"{file} {problem}") from None
        except OSError as problem:
            raise UserError(f"cannot read {file}: {problem.strerror}") from None
        except ValueError as problem:
            raise UserError(f"{file} is no breakscope report: {problem}") from None
    if traces:
        from breakscope.workflows.trace import read

        reports.insert(0, read(traces, config.rules, source_roots))
    return reports


def holds_bench(file: str) -> bool:
    """True for what `breakscope bench` saved."""
    try:
        return Path(file).is_file() and is_json(Path(file)) and is_bench(read_file(file))
    except (OSError, Unreadable):  # said by what reads it
        return False


def is_json(path: Path) -> bool:
    with open(path, "rb") as stream:
        return stream.read(64).lstrip().startswith(b"{")
