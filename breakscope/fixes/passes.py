"""Fixes all that can be fixed: the files are analysed, rewritten, and analysed again as they are then,
until nothing is left to rewrite. Nothing is written to disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from breakscope import limits
from breakscope.environment import import_folders
from breakscope.fixes.patch import patched
from breakscope.fixes.places import Places
from breakscope.reading import Unreadable, read_file
from breakscope.report.fixes import Proof
from breakscope.report.model import Finding, ReportError
from breakscope.static import StaticOptions, StaticResult, analyze
from breakscope.static.project.files import python_files
from breakscope.static.project.notebook import program_text
from breakscope.static.project.source import SourceError, split_lines

Key = tuple[str, str, str, str]
Wanted = Callable[[Finding], bool]
Progress = Callable[[str], None]


class FixOptions(Struct, frozen=True, kw_only=True):
    """Which fixes are applied: the safe ones; with `unsafe` all. `wanted` chooses among the findings,
    `jobs` and `cache` are those of the analysis, `progress` is told what is done."""

    unsafe: bool = False
    wanted: Wanted = lambda finding: True
    jobs: int = 1
    cache: str = ""
    progress: Progress = lambda text: None

    def shown(self, what: str) -> Callable[[int, int], None]:
        """The progress of an analysis, in words."""
        return lambda done, files: self.progress(f"{what} {done} of {files} files")


class Applied(Struct, frozen=True):
    """A fix that was applied, with its finding as the file was in that pass. `line` is where that
    was in the file as it is on disk, as far as what was rewritten before lets it be known."""

    path: str  # absolute
    finding: Finding
    line: int

    @property
    def key(self) -> Key:
        return key_of(self.finding)


def key_of(finding: Finding) -> Key:
    """By what a finding is known again in the next pass, in which its line may be another."""
    return (os.path.abspath(finding.path), finding.code, finding.function, finding.message)


class NotApplied(Struct, frozen=True):
    """A finding that has a fix which is not used; `reason` goes on from "not fixed: "."""

    finding: Finding
    reason: str


class Fixed(Struct, frozen=True, kw_only=True):
    """What became of the files. `before` is the analysis of the files as they are, `after` as they
    would be. `old` and `new` are what the changed files hold, by absolute path."""

    before: StaticResult
    after: StaticResult
    old: Mapping[str, bytes] = MappingProxyType({})
    new: Mapping[str, bytes] = MappingProxyType({})
    applied: tuple[Applied, ...] = ()
    declined: tuple[NotApplied, ...] = ()
    complete: bool = True  # False when the limit of passes ended it

    @property
    def sources(self) -> Mapping[str, bytes]:
        """What the changed files would hold, by absolute path."""
        return self.new


class Proven(Struct, frozen=True):
    """The files with the proven fixes. `taken_back` are the others, with reasons; `problem` says why
    nothing could be proven, "" where it could."""

    fixed: Fixed
    proofs: tuple[Proof, ...] = ()
    taken_back: tuple[tuple[Applied, str], ...] = ()
    problem: str = ""


def fixed_sources(
    paths: Iterable[str],
    static: StaticOptions | None = None,
    options: FixOptions | None = None,
    before: StaticResult | None = None,
) -> Fixed:
    """The files with the fixes of their findings. `before` is the analysis of the files where there
    is one already."""
    static, options = static or StaticOptions(), options or FixOptions()
    paths = list(paths)
    files = list(python_files(paths, static.exclude))
    places = Places(files, import_folders(static.environment))
    if before is None:
        before = analyze(
            paths, static, options.jobs, options.cache, progress=options.shown("analysed")
        )
    work = _Work(static, options, places)
    after = before
    for number in range(1, limits.MOST_FIX_PASSES + 1):
        changed = work.rewrite(after.findings, number)
        if not changed:
            break
        after = work.analysed_again(after, changed)
    else:
        changed = work.rewrite(after.findings, 0)
    return Fixed(
        before=before,
        after=after,
        old={path: work.old[path] for path in work.new},
        new=work.new,
        applied=tuple(work.applied),
        declined=tuple(work.declined.values()),
        complete=not changed,
    )


class _Work:
    """The files while they are rewritten."""

    def __init__(
        self,
        static: StaticOptions,
        options: FixOptions,
        places: Places,
    ) -> None:
        self.static, self.options, self.places = static, options, places
        self.old: dict[str, bytes] = {}
        self.new: dict[str, bytes] = {}
        self.applied: list[Applied] = []
        self.declined: dict[tuple, NotApplied] = {}

    def rewrite(self, findings: Iterable[Finding], number: int) -> list[str]:
        """Apply what fits of the findings' fixes; the changed files. With the number 0 only look
        whether something would change."""
        by_file: dict[str, list[Finding]] = {}
        self.declined.clear()
        for finding in findings:
            if finding.fix is None or not self.options.wanted(finding):
                continue
            path = os.path.abspath(finding.path)
            reason = self._reason_against(path, finding)
            if reason:
                self._decline(finding, reason)
            else:
                by_file.setdefault(path, []).append(finding)
        return [path for path, found in by_file.items() if self._rewrite(path, found, number)]

    def _reason_against(self, path: str, finding: Finding) -> str:
        if finding.fix.safety != "safe" and not self.options.unsafe:
            return "its fix may change what the program does (--unsafe-fixes)"
        refusal = self.places.refusal(path)
        return f"the file {refusal}" if refusal else ""

    def _rewrite(self, path: str, findings: list[Finding], number: int) -> bool:
        try:
            data = self.new[path] if path in self.new else read_file(path)
            made = patched(path, data, findings)
        except (Unreadable, SourceError) as problem:
            for finding in findings:
                self._decline(finding, f"the file {problem}")
            return False
        for finding, reason in made.declined:
            self._decline(finding, reason)
        if made.data == data:
            return False
        if number:
            old = self.old.setdefault(path, data)
            self.new[path] = made.data
            self.applied += [
                Applied(path, finding, line_before(old, data, finding.line, path))
                for finding in made.applied
            ]
        return True

    def _decline(self, finding: Finding, reason: str) -> None:
        self.declined[finding.place()] = NotApplied(finding, reason)

    def analysed_again(self, known: StaticResult, changed: list[str]) -> StaticResult:
        """The analysis with what the changed files hold now: they, and the files from which code in
        them was reached, are analysed again; what was found elsewhere stays."""
        affected = dict.fromkeys(changed)
        for finding in known.findings:
            passed = {os.path.abspath(link.path) for link in finding.chain}
            passed.add(os.path.abspath(finding.path))
            if not passed.isdisjoint(changed):
                affected.update(dict.fromkeys(p for p in passed if p in self.places.asked))
        again = analyze(
            list(affected),
            self.static,
            self.options.jobs,
            self.options.cache,
            self.new,
            self.options.shown(f"{len(self.applied)} fixes; analysed again"),
        )
        others = [f for f in known.findings if os.path.abspath(f.path) not in affected]
        fresh = {f.place(): f for f in again.findings if os.path.abspath(f.path) in affected}
        return replace(
            known,
            findings=tuple(sorted((*others, *fresh.values()), key=Finding.place)),
            errors=(*known.errors, *_new(again.errors, known.errors)),
            gaps=(
                *(gap for gap in known.gaps if os.path.abspath(gap.path) not in affected),
                *again.gaps,
            ),
        )


def line_before(old: bytes, new: bytes, line: int, path: str = "") -> int:
    """Where a line of a rewritten file comes from in the file before; of a line that is new, where
    it was put."""
    if old == new:
        return line
    lines = [split_lines(program_text(path, data)) for data in (old, new)]
    for _, start, end, first, last in SequenceMatcher(None, *lines, False).get_opcodes():
        if first <= line - 1 < last:
            return min(start + line - 1 - first, max(start, end - 1)) + 1
    return line


def _new(errors: Iterable[ReportError], known: Iterable[ReportError]) -> Iterable[ReportError]:
    """Those of files: that an entry names nothing in some of the files is no news."""
    paths = {error.path for error in known}
    return [error for error in errors if error.path and error.path not in paths]
