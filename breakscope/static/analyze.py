"""The static analysis of some paths: each file by itself, then their answers together."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from breakscope.environment import import_folders, python_version
from breakscope.knowledge import load as load_knowledge
from breakscope.knowledge import out_of_range, target_version, targeting
from breakscope.report.model import Finding, Gap, ReportError
from breakscope.static.answer import Answer, Settings, Together
from breakscope.static.cache import Cache
from breakscope.static.jobs import answers
from breakscope.static.project.entries import names_nothing
from breakscope.static.project.files import python_files, relative_path
from breakscope.static.project.reads import NO_SOURCES
from breakscope.static.project.recursion import with_room


class StaticOptions(Struct, frozen=True, kw_only=True):
    """`entries` are FILE::NAME or glob patterns of both; without them every region of the files is
    analysed.

    `torch` is the version whose behaviour is assumed (None: the installed one, else the newest
    known). `exclude` are globs of paths to leave out, `extra_rules` folders of the user's own
    rules, `environment` names the one that the code runs in (see `environment.py`; "": that of the
    user's, where one is known), `python` the Python version (None: that of the environment, else
    the running one). With `libraries`, installed packages that use torch are followed too. Without `possible`, findings
    that are only possible are counted, not made. Without `silence`, what a comment silences is found all the same.
    """

    entries: tuple[str, ...] = ()
    torch: str | None = None
    exclude: tuple[str, ...] = ()
    extra_rules: tuple[str, ...] = ()
    environment: str = ""
    python: tuple[int, int] | None = None
    libraries: bool = True
    possible: bool = True
    silence: bool = True


class StaticResult(Struct, frozen=True, kw_only=True):
    """What was found. `hidden` counts findings that a comment silenced, and possible ones that were
    not asked for; `gaps` are where the analysis gave up, and `notes` hold of all of it. `asked` are
    the checked files, as findings name them: what these reach may have findings in others."""

    findings: tuple[Finding, ...] = ()
    asked: frozenset[str] = frozenset()
    errors: tuple[ReportError, ...] = ()
    gaps: tuple[Gap, ...] = ()
    files: int = 0
    regions: int = 0
    hidden: int = 0
    torch: str = ""
    notes: tuple[str, ...] = ()


def analyze(
    paths: Iterable[str | os.PathLike[str]],
    options: StaticOptions | None = None,
    jobs: int = 1,
    cache: str = "",
    sources: Mapping[str, bytes] = NO_SOURCES,
    progress: Callable[[int, int], None] = lambda done, files: None,
) -> StaticResult:
    """Analyse files and folders by up to `jobs` processes; a file that cannot be read as Python
    gets one error entry and does not stop the rest. `cache` is the folder of the result cache, ""
    for none. `sources`, by absolute path, are analysed instead of what lies on disk; their answers
    are not stored. `progress` is told how many of how many files are done."""
    options = options or StaticOptions()
    installed = import_folders(options.environment)
    torch = options.torch or target_version(installed)
    target = load_knowledge(torch).version if out_of_range(torch) else torch
    settings = Settings(
        torch=torch,
        target=target,
        python=options.python or python_version(installed) or sys.version_info[:2],
        entries=options.entries,
        extra_rules=options.extra_rules,
        import_folders=installed if options.libraries else (),
        environment=installed,
        possible=options.possible,
        silence=options.silence,
    )
    together = Together()
    stored = Cache.at(cache, settings)
    files = list(python_files(paths, options.exclude))
    found = _answers(files, settings, stored, jobs, dict(sources))
    for number, answer in enumerate(found, 1):
        together.add(answer)
        progress(number, len(files))
    _refuse_idle_entries(settings.entries, together, files)
    return StaticResult(
        findings=together.findings,
        asked=frozenset(map(relative_path, files)),
        errors=tuple(sorted(together.errors, key=lambda error: error.path)),
        gaps=together.gaps,
        files=together.files,
        regions=together.regions,
        hidden=together.hidden,
        torch=torch,
        notes=tuple(filter(None, (out_of_range(torch),))),
    )


def _answers(
    files: list[str], settings: Settings, cache: Cache, jobs: int, sources: dict[str, bytes]
) -> Iterator[Answer]:
    """The answers of all files, in any order: those of the cache, then the others."""
    fresh = []
    for path, answer in cache.answers(files, sources):
        if answer is None:
            fresh.append(path)
        else:
            yield answer
    if fresh:
        yield from answers(fresh, partial(_analyzed, settings, cache, sources), jobs)
        cache.trim()


def _analyzed(
    settings: Settings, cache: Cache, sources: dict[str, bytes], files: list[str]
) -> Iterator[Answer]:
    """The answer of each file, in their order."""
    from breakscope.static.one_file import Analyzer  # where all is cached nothing is analysed

    with targeting(settings.target):
        analyzer = Analyzer(settings, sources)
    for path in files:
        with targeting(settings.target), _without_collection(), analyzer.reads.record() as record:
            answer = with_room(partial(analyzer.analyze, path))
        if not sources:
            cache.keep(path, answer, record, analyzer.reads)
        yield answer


@contextmanager
def _without_collection() -> Iterator[None]:
    """Abstract values are dropped all together, see Machine.take_back."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _refuse_idle_entries(entries: tuple[str, ...], together: Together, files: list[str]) -> None:
    """An entry that names nothing beside others that do is a mistake: silence would look like a
    clean file. When no entry names anything, there is nothing to report on, and the caller says
    so."""
    if not together.fitted or any(error.path for error in together.errors):
        return
    for entry in entries:
        if entry.rpartition("::")[2] not in together.fitted:
            together.errors.append(ReportError(message=names_nothing(entry, files)))
