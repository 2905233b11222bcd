"""From lines of a notebook's program to places in its file and its cells.

All of the analysis speaks of the program that a notebook's cells are; a report speaks of the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from breakscope.reading import Unreadable, read_file
from breakscope.report.fact import Cell, Gap, Link, ReportError
from breakscope.report.fixes import FixedPlace, NotFixedPlace
from breakscope.report.model import Edit, Finding, Fix, Report
from breakscope.static.project.files import is_notebook
from breakscope.static.project.reads import NO_SOURCES
from breakscope.static.project.source import SourceError

if TYPE_CHECKING:
    from breakscope.static.project.notebook import Notebook

Placed = TypeVar("Placed", Link, ReportError, Gap, FixedPlace, NotFixedPlace)


def located(
    report: Report,
    sources: Mapping[str, bytes] = NO_SOURCES,
    before: Mapping[str, bytes] = NO_SOURCES,
) -> Report:
    """The report with the places in notebooks as their files have them. `sources`, by absolute
    path, hold what was analysed where that does not lie on disk, and `before` what was fixed."""
    notebooks = _Notebooks(sources)
    fixes = report.fixes
    if fixes is not None:
        fixes = msgspec.structs.replace(
            fixes,
            fixed=tuple(map(_Notebooks(before).placed, fixes.fixed)),
            not_fixed=tuple(map(notebooks.placed, fixes.not_fixed)),
        )
    return msgspec.structs.replace(
        report,
        findings=tuple(map(notebooks.finding, report.findings)),
        errors=tuple(map(notebooks.placed, report.errors)),
        gaps=tuple(map(notebooks.placed, report.gaps)),
        fixes=fixes,
    )


class _Notebooks:
    """The notebooks of a report, each read once."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._known: dict[str, Notebook | None] = {}

    def of(self, path: str) -> Notebook | None:
        """None for another file, and for one that cannot be read."""
        if not is_notebook(path):
            return None
        from breakscope.static.project.notebook import Notebook  # few files are notebooks

        if path not in self._known:
            absolute = os.path.abspath(path)
            try:
                data = self._sources.get(absolute)
                self._known[path] = Notebook.of(read_file(absolute) if data is None else data)
            except (Unreadable, SourceError):
                self._known[path] = None
        return self._known[path]

    def placed(self, fact: Placed) -> Placed:
        """The fact at its line of the file, with its cell."""
        notebook = self.of(fact.path)
        cell = notebook.cell_at(fact.line) if notebook and fact.line else None
        if cell is None:
            return fact
        line, _ = notebook.place(fact.line, 1)
        place = Cell(number=cell.number, line=fact.line - cell.first + 1)
        return msgspec.structs.replace(fact, line=line, cell=place)

    def finding(self, finding: Finding) -> Finding:
        """The same for a finding and the calls that lead to it."""
        finding = self._with_links(finding)
        notebook = self.of(finding.path)
        cell = notebook.cell_at(finding.line) if notebook else None
        if cell is None:
            return finding
        before = cell.first - 1
        left_out = max(0, cell.first - finding.first_source_line)  # the end of the cell before
        left_out = left_out if finding.source else 0
        shown = finding.source[left_out : cell.first + len(cell.lines) - finding.first_source_line]
        line, column = notebook.place(finding.line, finding.column)
        end_line, end_column = notebook.place(finding.end_line, finding.end_column)
        return msgspec.structs.replace(
            finding,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            first_source_line=line - (finding.line - finding.first_source_line - left_out),
            source=shown,
            fix=finding.fix and _moved(finding.fix, -before),
            cell=Cell(
                number=cell.number,
                line=finding.line - before,
                column=finding.column,
                end_line=finding.end_line - before,
                end_column=finding.end_column,
            ),
        )

    def _with_links(self, finding: Finding) -> Finding:
        if not any(is_notebook(link.path) for link in (*finding.chain, *finding.places)):
            return finding
        return msgspec.structs.replace(
            finding,
            chain=tuple(map(self.placed, finding.chain)),
            places=tuple(map(self.placed, finding.places)),
        )


def _moved(fix: Fix, by: int) -> Fix:
    also = tuple(
        Edit(line=edit.line + by, end_line=edit.end_line + by, replacement=edit.replacement)
        for edit in fix.also
    )
    return msgspec.structs.replace(fix, line=fix.line + by, end_line=fix.end_line + by, also=also)
