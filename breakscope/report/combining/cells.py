"""Places in notebooks as people name them: `model.ipynb:cell 3:2:5`, with lines of the cell."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from breakscope.report.fact import Gap, Link, ReportError
from breakscope.report.fixes import FixedPlace, NotFixedPlace
from breakscope.report.model import Finding, Report

Placed = TypeVar("Placed", Link, ReportError, Gap, FixedPlace, NotFixedPlace)


def in_cells(report: Report) -> Report:
    """The report with the lines of cells where it has those of notebooks' files."""
    fixes = report.fixes
    if fixes is not None:
        fixes = replace(
            fixes,
            fixed=tuple(map(_placed, fixes.fixed)),
            not_fixed=tuple(map(_placed, fixes.not_fixed)),
        )
    return replace(
        report,
        findings=tuple(map(_finding, report.findings)),
        errors=tuple(map(_placed, report.errors)),
        gaps=tuple(map(_placed, report.gaps)),
        fixes=fixes,
    )


def _placed(fact: Placed) -> Placed:
    if fact.cell is None:
        return fact
    return replace(fact, path=f"{fact.path}:cell {fact.cell.number}", line=fact.cell.line)


def _finding(finding: Finding) -> Finding:
    if any(link.cell for link in (*finding.chain, *finding.places)):
        finding = replace(
            finding,
            chain=tuple(map(_placed, finding.chain)),
            places=tuple(map(_placed, finding.places)),
        )
    cell = finding.cell
    if cell is None:
        return finding
    return replace(
        finding,
        path=f"{finding.path}:cell {cell.number}",
        line=cell.line,
        column=cell.column,
        end_line=cell.end_line,
        end_column=cell.end_column,
        first_source_line=cell.line - (finding.line - finding.first_source_line),
    )
