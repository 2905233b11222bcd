"""breakscope check: source analysis, and with a target to run also what the run saw, in one report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from breakscope import __version__
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.knowledge import targeting
from breakscope.report.combining.merge import together
from breakscope.report.model import Report
from breakscope.static import StaticOptions, StaticResult, analyze
from breakscope.static.project.entries import names_nothing
from breakscope.static.project.reads import NO_SOURCES
from breakscope.texts import missing_file
from breakscope.workflows.choice import BaselineChoice, Choice, narrow
from breakscope.workflows.notebooks import located

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions


class CheckOptions(Struct, frozen=True, kw_only=True):
    """What to check. `entries` and `torch` are left to the configuration when empty. `sources`, by
    absolute path, are checked instead of what lies on disk.

    `run` is the run whose observations the findings are joined with, or None.
    """

    paths: tuple[str, ...]
    sources: Mapping[str, bytes] = NO_SOURCES
    entries: tuple[str, ...] = ()
    torch: str = ""
    python: str = ""  # names the environment that the code runs in, see `environment.py`
    libraries: bool = True  # follow installed packages that use torch
    jobs: int = 1  # processes
    cache: str = ""  # the folder of the result cache, "" for none
    follow: bool = False  # show findings in the files that `paths` lead to, too
    choice: Choice = Choice()
    run: RunOptions | None = None
    baseline: BaselineChoice = BaselineChoice()


def check(options: CheckOptions, config: Config) -> Report:
    """One report on the paths; raises UserError when they, a code or the configuration are wrong."""
    asked = static_options(options, config)
    selection = options.choice.selection(config)
    cache = cache_folder(options, config)
    static = analyze(options.paths, asked, options.jobs, cache, options.sources)
    report = report_of(options, static)
    if options.run is not None:
        report = _with_run(report, options.run, config.rules)
    narrowed = narrow(report, selection, None if options.follow else static.asked)
    report = located(narrowed, options.sources)
    if not options.baseline.is_wanted(config):
        return report
    from breakscope.workflows.baselines import with_baseline  # most projects have none

    asked = static.asked if not asked.entries else None  # then all of their code was looked at
    return with_baseline(report, options.baseline, config, selection, asked)


def static_options(options: CheckOptions, config: Config) -> StaticOptions:
    """What source analysis is asked for; raises UserError when the paths, a code or the version are
    wrong."""
    _refuse_what_is_no_path(options)
    _refuse_what_is_no_version(options.torch or config.torch)
    selection = options.choice.selection(config)
    return StaticOptions(
        entries=options.entries or config.entry,
        torch=options.torch or config.torch or None,
        environment=options.python,
        exclude=config.exclude,
        extra_rules=config.rules,
        libraries=options.libraries and config.libraries,
        # a run may confirm what is only possible
        possible=selection.show_possible or options.run is not None,
        silence=options.run is None,  # see silencing.py
    )


def cache_folder(options: CheckOptions, config: Config) -> str:
    """The folder of the result cache, "" for none."""
    return os.path.abspath(options.cache) if options.cache and config.cache else ""


def report_of(options: CheckOptions, static: StaticResult) -> Report:
    """The report of source analysis alone; raises UserError when there was nothing to analyse."""
    _refuse_empty(options, static)
    return Report(
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


def _with_run(report: Report, options: RunOptions, rules: tuple[str, ...]) -> Report:
    """The report, what source analysis says of the target as an entry, and what the run saw, in
    one."""
    from dataclasses import replace

    from breakscope.dynamic import run_fully
    from breakscope.workflows.joining import in_our_words, join_run
    from breakscope.workflows.run import predict
    from breakscope.workflows.silencing import silenced

    options = replace(options, rules=rules)
    ran = run_fully(options)
    joined = join_run(together(report, predict(options, ran)), ran)
    return silenced(in_our_words(joined, ran, options.rules))


def _refuse_what_is_no_path(options: CheckOptions) -> None:
    if not options.paths:
        raise UserError("nothing to check; name files or folders")
    for path in options.paths:
        if os.path.abspath(path) in options.sources:
            continue
        if not os.path.exists(path):
            file, separator, name = path.rpartition("::")
            if separator and os.path.isfile(file):
                raise UserError(
                    f"{path} names a part of a file: write `{file} --entry {path}` to check what "
                    f"`{name}` leads to, or `--run {path}` to run it too"
                )
            raise UserError(missing_file(path))
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
        files = [os.path.abspath(path) for path in static.asked]
        raise UserError(names_nothing(options.entries[0], files))
