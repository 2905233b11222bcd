"""breakscope check: source analysis, and with a target to run also what the run saw, in one report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from breakscope import __version__
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.knowledge import targeting
from breakscope.report.merge import together
from breakscope.report.model import Report
from breakscope.static import StaticOptions, StaticResult, analyze
from breakscope.workflows.choice import Choice, narrow

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions


class CheckOptions(Struct, frozen=True, kw_only=True):
    """What to check. `entries` and `torch` are left to the configuration when empty.

    `run` is the run whose observations the findings are joined with, or None.
    """

    paths: tuple[str, ...]
    entries: tuple[str, ...] = ()
    torch: str = ""
    python: str = ""  # names the environment that the code runs in, see `environment.py`
    libraries: bool = True  # follow installed packages that use torch
    jobs: int = 1  # processes
    cache: str = ""  # the folder of the result cache, "" for none
    choice: Choice = Choice()
    run: RunOptions | None = None


def check(options: CheckOptions, config: Config) -> Report:
    """One report on the paths; raises UserError when they, a code or the configuration are wrong."""
    _refuse_what_is_no_path(options.paths)
    _refuse_what_is_no_version(options.torch or config.torch)
    selection = options.choice.selection(config)
    static = analyze(
        options.paths,
        StaticOptions(
            entries=options.entries or config.entry,
            torch=options.torch or config.torch or None,
            environment=options.python,
            exclude=config.exclude,
            extra_rules=config.rules,
            libraries=options.libraries and config.libraries,
            # a run may confirm what is only possible
            possible=selection.show_possible or options.run is not None,
        ),
        options.jobs,
        os.path.abspath(options.cache) if options.cache and config.cache else "",
    )
    _refuse_empty(options, static)
    report = Report(
        version=__version__,
        torch=static.torch,
        findings=static.findings,
        errors=static.errors,
        files=static.files,
        regions=static.regions,
        hidden=static.hidden,
        gaps=static.gaps,
        notes=static.notes,
    )
    if options.run is not None:
        report = _with_run(report, options.run, config.rules)
    return narrow(report, selection)


def _with_run(report: Report, options: RunOptions, rules: tuple[str, ...]) -> Report:
    """The report, what source analysis says of the target as an entry, and what the run saw, in
    one."""
    from dataclasses import replace

    from breakscope.dynamic import run_fully
    from breakscope.workflows.joining import in_our_words, join_run
    from breakscope.workflows.run import predict

    options = replace(options, rules=rules)
    ran = run_fully(options)
    return in_our_words(join_run(together(report, predict(options, ran)), ran), ran, options.rules)


def _refuse_what_is_no_path(paths: tuple[str, ...]) -> None:
    if not paths:
        raise UserError("nothing to check; name files or folders")
    for path in paths:
        if not os.path.exists(path):
            raise UserError(f"no such file or folder: {path}")
        if not (os.path.isfile(path) or os.path.isdir(path)):
            raise UserError(f"neither a file nor a folder: {path}")


def _refuse_what_is_no_version(torch: str) -> None:
    try:
        with targeting(torch or "2.13"):
            pass
    except ValueError as problem:
        raise UserError(f"--torch: {problem}") from None


def _refuse_empty(options: CheckOptions, static: StaticResult) -> None:
    """Nothing was there to be checked; a glob may match nothing, a plain name may not."""
    if static.errors:
        return
    folders = [path for path in options.paths if os.path.isdir(path)]
    if folders and not static.files:
        raise UserError(f"no Python files in {', '.join(folders)}")
    if (
        options.entries
        and not static.regions
        and not any(c in entry for entry in options.entries for c in "*?[")
    ):
        raise UserError(
            f"--entry {', '.join(options.entries)}: no function or class of the checked files has that name"
        )
