"""GitLab's code quality report, for the widget and the changes of a merge request."""

from __future__ import annotations

from collections import Counter

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.combining.fingerprints import fingerprint, hashed
from breakscope.report.conditions import only_when
from breakscope.report.escaping import in_one_line, json_text, readable
from breakscope.report.formats import RenderOptions
from breakscope.report.formats._words import places
from breakscope.report.model import Finding, Gap, Report, ReportError
from breakscope.report.summary import gap_text

SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, options: RenderOptions) -> str:
    seen: Counter[str] = Counter()
    issues = [_finding(finding, seen) for finding in for_each_cause(report.findings)]
    issues += [_problem(e, "error", e.message, "blocker", seen) for e in report.errors]
    issues += [_problem(gap, "gap", gap_text(gap), "info", seen) for gap in report.gaps]
    return json_text(issues)


def _finding(finding: Finding, seen: Counter[str]) -> dict:
    words = ", ".join(filter(None, (finding.message, only_when(finding), places(finding))))
    return {
        "description": in_one_line(f"{finding.code} {words}"),
        "check_name": finding.code,
        "fingerprint": fingerprint(finding, seen),
        "severity": SEVERITIES[finding.severity],
        "location": _location(finding.path, finding.line, finding.end_line),
        "type": "issue",
        "categories": ["Performance"],
        "content": {"body": in_one_line(finding.help)},
    }


def _problem(
    problem: ReportError | Gap, name: str, text: str, severity: str, seen: Counter[str]
) -> dict:
    identity = "\0".join((name, problem.path, text))
    return {
        "description": in_one_line(f"{name}: {text}"),
        "check_name": f"breakscope-{name}",
        "fingerprint": hashed(identity, seen),
        "severity": severity,
        "location": _location(problem.path, problem.line, problem.line),
        "type": "issue",
        "categories": ["Bug Risk"],
    }


def _location(path: str, line: int, end_line: int) -> dict:
    """GitLab wants a place of everything; what has none stands at the repository itself."""
    first = max(1, line)
    return {
        "path": readable(path.removeprefix("./") or "."),
        "lines": {"begin": first, "end": max(first, end_line)},
    }
