"""Comments silence what a run saw, as they silence what source analysis predicts."""

from __future__ import annotations

from os.path import isfile

from msgspec.structs import replace

from breakscope.dynamic import library_of
from breakscope.reading import Unreadable, read_file
from breakscope.report.combining.statements import Statements
from breakscope.report.model import Finding, Report
from breakscope.source_roots import may_read
from breakscope.static.findings.suppress import Mark, Suppressions
from breakscope.static.findings.unused import CODE
from breakscope.static.project.source import SourceError, decode, split_lines


def silenced(report: Report) -> Report:
    """The report of a run without the findings that a comment silences; these count as hidden. They
    are silenced here, when source and run are joined: what the run confirmed was no missed break.
    A comment that does is in use, though source alone has nothing for it."""
    files = _Files()
    marks = [files.silencers(finding) for finding in report.findings]
    used = {
        (finding.path, mark.line, mark.column + 1)
        for finding, found in zip(report.findings, marks)
        for mark in found
    }
    kept = tuple(
        finding
        for finding, found in zip(report.findings, marks)
        if not (found or (finding.code == CODE and finding.place()[:3] in used))
    )
    return replace(report, findings=kept, hidden=report.hidden + sum(map(bool, marks)))


class _Files:
    """The comments and statements of files, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Suppressions, Statements]] = {}

    def silencers(self, finding: Finding) -> list[Mark]:
        if finding.code == CODE or library_of(finding.path) or not may_read(finding.path):
            return []
        if finding.path not in self._known:
            self._known[finding.path] = _read(finding.path)
        suppressions, statements = self._known[finding.path]
        if not suppressions.marks:
            return []
        return suppressions.silencers(finding.code, *statements.around(finding.line))


def _read(path: str) -> tuple[Suppressions, Statements]:
    try:
        text = decode(read_file(path)) if isfile(path) else ""
    except (Unreadable, SourceError):
        text = ""
    suppressions = Suppressions(split_lines(text))
    return suppressions, Statements(text if suppressions.marks else "")
