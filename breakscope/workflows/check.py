"""breakscope check: source analysis, and with a target to run also what the run saw, in one report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from breakscope import __version__
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.report.model import Report
from breakscope.static import StaticOptions, analyze
from breakscope.workflows.choice import Choice, narrow

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What to check. `entries` and `torch` are left to the configuration when empty.

    `run` is the run whose observations the findings are joined with, or None.
    """

    paths: tuple[str, ...]
    entries: tuple[str, ...] = ()
    torch: str = ""
    choice: Choice = Choice()
    run: RunOptions | None = None


def check(options: CheckOptions, config: Config) -> Report:
    """One report on the paths; raises UserError when they, a code or the configuration are wrong."""
    _refuse_missing(options.paths)
    selection = options.choice.selection(config)
    static = analyze(options.paths, StaticOptions(
        entries=options.entries or config.entry,
        torch=options.torch or config.torch or None,
        exclude=config.exclude,
        extra_rules=config.rules,
    ))
    _refuse_empty(options.paths, static)
    report = Report(
        version=__version__, torch=static.torch, findings=static.findings, errors=static.errors,
        files=static.files, regions=static.regions, hidden=static.suppressed,
    )
    if options.run is not None:
        report = _with_run(report, replace(options.run, rules=config.rules))
    return narrow(report, selection)


def _with_run(report: Report, options: RunOptions) -> Report:
    from breakscope.dynamic import run_target
    from breakscope.workflows.joining import join_run

    return join_run(report, run_target(options))


def _refuse_missing(paths: tuple[str, ...]) -> None:
    if not paths:
        raise UserError("nothing to check; name files or folders")
    for path in paths:
        if not Path(path).exists():
            raise UserError(f"no such file or folder: {path}")


def _refuse_empty(paths: tuple[str, ...], static) -> None:
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and not static.files and not static.errors:
        raise UserError(f"no Python files in {', '.join(folders)}")
