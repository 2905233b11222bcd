"""check --watch: a report again and again, and what came and went in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.report.combining.identity import identity, same
from breakscope.report.model import Finding, Report
from breakscope.static.project.files import CHECKED
from breakscope.workflows.check import CheckOptions, check

SETTINGS = ".toml"


class News(Struct, frozen=True):
    """A report, and against the one before it: its findings that `came`, and those that `went`;
    `changed` are the saved files."""

    report: Report
    came: tuple[Finding, ...] = ()
    went: tuple[Finding, ...] = ()
    changed: tuple[str, ...] = ()


Changes = Callable[[tuple[str, ...]], Iterable[set[str]]]


def checked_again(
    options: CheckOptions, load: Callable[[], Config], changes: Changes | None = None
) -> Iterator[News]:
    """The report, and a new one each time that a file is saved which may change it. `load` reads the
    settings, `changes` yields the absolute paths of saved files; a file may be gone meanwhile, and
    wrong settings may be mended."""
    saved = (changes or _saved_files)(options.paths)  # refuses what cannot be watched first
    before = check(options, load())
    yield News(before)
    for paths in saved:
        changed = tuple(sorted(p for p in paths if p.endswith((*CHECKED, SETTINGS))))
        if not changed:
            continue
        try:
            there = tuple(path for path in options.paths if os.path.exists(path))
            after = check(replace(options, paths=there or options.paths), load())
        except UserError as problem:
            yield News(_failed(before, problem), changed=changed)
            continue
        known = _with_unread(after, before)
        yield News(after, *_difference(before, known), changed)
        before = known


def _failed(report: Report, problem: UserError) -> Report:
    from breakscope.report.model import ReportError

    return replace(report, findings=(), errors=(ReportError(message=str(problem)),))


def _with_unread(report: Report, before: Report) -> Report:
    """The report, with the findings that were there before in files that have an error now: a file
    that is half written has not lost them."""
    unread = {error.path for error in report.errors}
    kept = tuple(finding for finding in before.findings if finding.path in unread)
    return replace(report, findings=(*report.findings, *kept))


def _difference(before: Report, after: Report) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    pairs = same(*([identity(f) for f in report.findings] for report in (before, after)))
    old, new = {i for i, _ in pairs}, {j for _, j in pairs}
    return (
        tuple(f for j, f in enumerate(after.findings) if j not in new),
        tuple(f for i, f in enumerate(before.findings) if i not in old),
    )


def _saved_files(paths: tuple[str, ...]) -> Iterator[set[str]]:
    """The files that were saved, again and again until the user interrupts: the named ones, those in
    the named folders, and settings beside them."""
    try:
        from watchfiles import watch
    except ImportError:
        raise UserError(
            "--watch needs watchfiles: install it with `pip install watchfiles`"
        ) from None
    files = {os.path.abspath(path) for path in paths if not os.path.isdir(path)}
    folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
    # a file is watched by its folder: many editors put a new one in its place
    watched = {*folders, *map(os.path.dirname, files), os.getcwd()}
    return _matching(watch(*sorted(watched), recursive=bool(folders)), files, folders)


def _matching(
    batches: Iterable[set[tuple[object, str]]], files: set[str], folders: list[str]
) -> Iterator[set[str]]:
    inside = tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
    for batch in batches:
        paths = {path for _, path in batch}
        yield {p for p in paths if p in files or p.startswith(inside) or p.endswith(SETTINGS)}
