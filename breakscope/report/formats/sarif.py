"""SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

from collections import Counter
from importlib import metadata

from breakscope.report.combining.fingerprints import fingerprint
from breakscope.report.conditions import only_when
from breakscope.report.escaping import json_text, uri
from breakscope.report.formats import RenderOptions, RuleText
from breakscope.report.model import Edit, Finding, Fix, Gap, Report, ReportError
from breakscope.report.summary import elsewhere_text, gap_text

WANTS_RULES = True
SCHEMA = (
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
)
LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render(report: Report, options: RenderOptions) -> str:
    codes = sorted({f.code for f in report.findings})
    names = {f.code: f.rule for f in report.findings}
    rules = [_rule(code, names[code], options.rules.get(code)) for code in codes]
    seen: Counter[str] = Counter()
    driver = {"name": "breakscope", "version": report.version, "rules": rules}
    if address := _address():
        driver["informationUri"] = address
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, codes.index(f.code), seen) for f in report.findings],
        "invocations": [_invocation(report)],
        "properties": {"torch": report.torch, "missed": report.missed, "refuted": report.refuted},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document)


def _address() -> str:
    """Where the package says that its project is; "" where it does not."""
    try:
        listed = metadata.metadata("breakscope").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return ""
    return next((entry.partition(", ")[2] for entry in listed), "")


def _rule(code: str, name: str, text: RuleText | None) -> dict:
    rule = {"id": code, "name": name}
    if text is not None:
        rule |= {
            "shortDescription": {"text": text.title},
            "fullDescription": {"text": _first_paragraph(text.page) or text.title},
            "help": {"text": text.page, "markdown": text.page},
            "defaultConfiguration": {"level": LEVELS[text.severity]},
        }
    return rule


def _result(finding: Finding, rule_index: int, seen: Counter) -> dict:
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {
            "text": "\n".join(
                filter(None, (finding.message, only_when(finding), finding.help, *finding.also))
            )
        },
        "locations": [_location(finding)],
        "partialFingerprints": {"breakscope/v1": fingerprint(finding, seen)},
        "properties": {
            "kind": finding.kind,
            "confidence": finding.confidence,
            "evidence": finding.evidence,
            "count": finding.count,
            "dynamo": list(finding.dynamo),
        },
    }
    if finding.chain:
        result["codeFlows"] = [_code_flow(finding)]
    if finding.fix is not None and finding.cell is None:  # its lines are those of the cell
        result["fixes"] = [_fix(finding)]
    return result


def _location(finding: Finding) -> dict:
    region = {  # a trace from elsewhere may name lines that no file has
        "startLine": max(1, finding.line),
        "startColumn": max(1, finding.column),
        "endLine": max(1, finding.end_line),
        "endColumn": max(1, finding.end_column),
    }
    index = finding.line - finding.first_source_line
    if finding.end_line == finding.line and 0 <= index < len(finding.source):
        shown = finding.cell or finding  # the source is a cell's, the region the file's
        text = finding.source[index][shown.column - 1 : shown.end_column - 1]
        region["snippet"] = {"text": text}
    location = {
        "physicalLocation": {"artifactLocation": {"uri": uri(finding.path)}, "region": region}
    }
    if finding.function:
        location["logicalLocations"] = [
            {"fullyQualifiedName": finding.function, "kind": "function"}
        ]
    return location


def _code_flow(finding: Finding) -> dict:
    steps = [
        {
            "location": {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(link.path)},
                    "region": {"startLine": max(1, link.line)},
                },
                "message": {"text": link.function},
            }
        }
        for link in finding.chain
    ]
    last = {"location": {**_location(finding), "message": {"text": finding.message}}}
    return {"threadFlows": [{"locations": [*steps, last]}]}


def _fix(finding: Finding) -> dict:
    fix = finding.fix
    change = {
        "artifactLocation": {"uri": uri(finding.path)},
        "replacements": [_replacement(edit) for edit in (fix, *fix.also)],
    }
    needed = f"; needs {', '.join(f'`{line}`' for line in fix.imports)}" if fix.imports else ""
    return {
        "description": {"text": f"{fix.description} ({fix.safety}{needed})"},
        "artifactChanges": [change],
    }


def _replacement(edit: Fix | Edit) -> dict:
    """Whole lines become others."""
    deleted = {
        "startLine": max(1, edit.line),
        "startColumn": 1,
        "endLine": max(1, edit.end_line + 1),
        "endColumn": 1,
    }
    return {"deletedRegion": deleted, "insertedContent": {"text": edit.replacement}}


def _invocation(report: Report) -> dict:
    invocation = {"executionSuccessful": not report.errors}
    notifications = [
        *(_notification("error", e, e.message) for e in report.errors),
        *(_notification("warning", gap, gap_text(gap)) for gap in report.gaps),
    ]
    if report.elsewhere:
        text = elsewhere_text(report)
        notifications.append({"level": "note", "message": {"text": text}})
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    return invocation


def _notification(level: str, error: ReportError | Gap, text: str) -> dict:
    notification = {"level": level, "message": {"text": text}}
    if error.path:
        place = {"artifactLocation": {"uri": uri(error.path)}}
        if error.line > 0:
            place["region"] = {"startLine": error.line}
        notification["locations"] = [{"physicalLocation": place}]
    return notification


def _first_paragraph(page: str) -> str:
    paragraphs = [p for p in page.strip().split("\n\n") if p.strip()]
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
