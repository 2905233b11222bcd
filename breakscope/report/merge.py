"""Several reports as one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from breakscope.report.model import Report


def merge(reports: Sequence[Report]) -> Report:
    """The reports' findings and errors together, each once; numbers are added up.

    The first run is kept as the report's run: `Report` has room for one.
    """
    first, *others = reports
    if not others:
        return first
    findings = {(f.path, f.line, f.column, f.code, f.kind): f for report in reports for f in report.findings}
    return msgspec.structs.replace(
        first,
        findings=tuple(sorted(findings.values(), key=lambda f: f.place())),
        errors=tuple(dict.fromkeys(e for report in reports for e in report.errors)),
        files=sum(r.files for r in reports),
        regions=sum(r.regions for r in reports),
        run=next((r.run for r in reports if r.run is not None), None),
        missed=sum(r.missed for r in reports),
        refuted=sum(r.refuted for r in reports),
        hidden=sum(r.hidden for r in reports),
    )
