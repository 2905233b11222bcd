"""SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import hashlib
from collections import Counter

from breakscope.report.escaping import json_text, uri
from breakscope.report.formats import RenderOptions, RuleText
from breakscope.report.model import Finding, Gap, Report, ReportError
from breakscope.report.summary import gap_text

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
    run = {
        "tool": {"driver": {"name": "breakscope", "version": report.version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, codes.index(f.code), seen) for f in report.findings],
        "invocations": [_invocation(report)],
        "properties": {"torch": report.torch, "missed": report.missed, "refuted": report.refuted},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document)


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
        "message": {"text": "\n".join(part for part in (finding.message, finding.help) if part)},
        "locations": [_location(finding)],
        "partialFingerprints": {"breakscope/v1": _fingerprint(finding, seen)},
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
    if finding.fix is not None:
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
        region["snippet"] = {
            "text": finding.source[index][finding.column - 1 : finding.end_column - 1]
        }
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
    replacement = {
        "deletedRegion": {
            "startLine": max(1, fix.line),
            "startColumn": 1,
            "endLine": max(1, fix.end_line + 1),
            "endColumn": 1,
        },
        "insertedContent": {"text": fix.replacement},
    }
    change = {"artifactLocation": {"uri": uri(finding.path)}, "replacements": [replacement]}
    return {
        "description": {"text": f"{fix.description} ({fix.safety})"},
        "artifactChanges": [change],
    }


def _invocation(report: Report) -> dict:
    invocation = {"executionSuccessful": not report.errors}
    notifications = [
        *(_notification("error", e, e.message) for e in report.errors),
        *(_notification("warning", gap, gap_text(gap)) for gap in report.gaps),
    ]
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


def _fingerprint(finding: Finding, seen: Counter) -> str:
    """The same while lines move: path, function, code and the line's text, and its number among
    equals."""
    index = finding.line - finding.first_source_line
    text = finding.source[index].strip() if 0 <= index < len(finding.source) else ""
    identity = "\0".join((finding.path, finding.function, finding.code, text))
    seen[identity] += 1
    return hashlib.sha256(
        f"{identity}\0{seen[identity]}".encode("utf-8", "surrogatepass")
    ).hexdigest()[:32]


def _first_paragraph(page: str) -> str:
    paragraphs = [p for p in page.strip().split("\n\n") if p.strip()]
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
