"""A break or recompile inside an installed package, at the user's line that leads there.

Nobody edits an installed package, so the finding stands where its reader can do something, says
what that is, and keeps the place inside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from breakscope.dynamic.findings.grouping import one_for_each_cause
from breakscope.dynamic.findings.hints import OUTSIDE
from breakscope.dynamic.observations.ownership import library_of
from breakscope.dynamic.source_text import SourceFile
from breakscope.report.model import SEEN, Cost, Finding, Inside, code_in
from breakscope.rulekit.loader import load_rules


def at_users_lines(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, each cause once, and those that a run saw inside an installed package at the
    line that leads there, where the run shows one."""
    moved: dict[object, Finding] = {}
    for finding in findings:
        now = _moved(finding)
        merges = now is not finding and now.kind == "break"
        key = (now.path, now.line, now.library) if merges else id(finding)
        known = moved.get(key)
        moved[key] = now if known is None else _together(known, now)
    return one_for_each_cause(moved.values())


def _together(one: Finding, other: Finding) -> Finding:
    """Two breaks that one line leads to in one package: the line is what a reader can change."""
    seconds = [f.cost.compile_seconds for f in (one, other) if f.cost and f.cost.compile_seconds]
    return msgspec.structs.replace(
        one,
        count=one.count + other.count,
        dynamo=tuple(dict.fromkeys((*one.dynamo, *other.dynamo))),
        lost=one.lost or other.lost,
        places=(*one.places, *other.inside.chain[-1:]),
        cost=Cost(compile_seconds=sum(seconds)) if seconds else one.cost,
    )


def _moved(finding: Finding) -> Finding:
    if not finding.library or finding.evidence not in SEEN or finding.inside is not None:
        return finding
    own = [i for i, link in enumerate(finding.chain) if not library_of(os.path.abspath(link.path))]
    if not own or own[-1] == len(finding.chain) - 1:
        return finding
    at = own[-1]
    link, inner = finding.chain[at], finding.chain[at + 1 :]
    source = SourceFile.read(os.path.abspath(link.path))
    text = source.line(link.line)
    first, lines = source.frame(link.line)
    # the line itself is shown below, and a header is cut at its end
    message = f"in {finding.library}, {finding.message}"
    indent = len(text) - len(text.lstrip())
    return msgspec.structs.replace(
        finding,
        path=link.path,
        line=link.line,
        end_line=link.line,
        column=indent + 1,
        end_column=max(indent + 2, source.code_end(link.line)),
        function=source.qualified_name(link.line) or link.function,
        message=message,
        brief=finding.brief if finding.kind == "recompile" else "",
        names=code_in(message),
        help=finding.help
        if finding.kind != "break" or _is_said_of_outside(finding)
        else OUTSIDE.format(library=finding.library),
        inside=Inside(message=finding.message, brief=finding.brief, chain=inner),
        fix=None,
        first_source_line=first,
        source=tuple(lines),
    )


def _is_said_of_outside(finding: Finding) -> bool:
    """A rule has this advice for a line that calls torch's compiled code."""
    return any(rule.help_outside == finding.help for rule in load_rules() if rule.help_outside)
