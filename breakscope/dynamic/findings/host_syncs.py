"""Findings with the host syncs that a step has at their line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from breakscope.report.model import Finding, HostSync


def with_host_syncs(findings: Sequence[Finding], syncs: Iterable[HostSync]) -> tuple[Finding, ...]:
    """The findings, breaks with the number of syncs at their line."""
    counts = {(sync.path, sync.line): sync.count for sync in syncs if sync.path}
    return tuple(
        msgspec.structs.replace(finding, host_syncs=counts[finding.path, finding.line])
        if finding.kind == "break" and (finding.path, finding.line) in counts
        else finding
        for finding in findings
    )
