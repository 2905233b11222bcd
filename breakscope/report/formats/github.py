"""Workflow commands that GitHub Actions turns into annotations on a pull request."""

from __future__ import annotations

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.conditions import only_when
from breakscope.report.escaping import visible
from breakscope.report.formats import RenderOptions
from breakscope.report.formats._words import places
from breakscope.report.model import Finding, Gap, Report, ReportError
from breakscope.report.summary import elsewhere_text, gap_text

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, options: RenderOptions) -> str:
    commands = [
        *map(_finding, for_each_cause(report.findings)),
        *map(_error, report.errors),
        *map(_gap, report.gaps),
    ]
    if report.elsewhere:
        commands.append(_command("notice", {"title": "breakscope"}, elsewhere_text(report)))
    return "".join(f"{command}\n" for command in commands)


def _finding(finding: Finding) -> str:
    properties = {"file": finding.path, "line": finding.line, "endLine": finding.end_line}
    if finding.end_line == finding.line:  # GitHub refuses columns on more than one line
        properties |= {"col": finding.column, "endColumn": finding.end_column}
    properties["title"] = f"{finding.code} {finding.rule}"
    text = "\n".join(
        part
        for part in (finding.message, only_when(finding), places(finding), finding.help)
        if part
    )
    return _command(LEVELS[finding.severity], properties, text)


def _error(error: ReportError) -> str:
    properties = {"file": error.path, "line": error.line or 1} if error.path else {}
    return _command("error", {**properties, "title": "breakscope"}, error.message)


def _gap(gap: Gap) -> str:
    properties = {"file": gap.path, "line": gap.line or 1} if gap.path else {}
    return _command("warning", {**properties, "title": "breakscope gave up here"}, gap_text(gap))


def _command(level: str, properties: dict, text: str) -> str:
    listed = ",".join(
        f"{name}={_escape_property(str(value))}" for name, value in properties.items()
    )
    lines = map(visible, text.splitlines())
    return f"::{level} {listed}::{'%0A'.join(map(_escape, lines))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape(visible(text)).replace(":", "%3A").replace(",", "%2C")
