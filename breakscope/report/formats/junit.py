"""JUnit XML, for CI systems that show the results of tests: a suite for each file, a failed test for
each finding."""

from __future__ import annotations

from xml.etree import ElementTree

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.conditions import only_when
from breakscope.report.escaping import in_one_line, visible, visible_line
from breakscope.report.formats import RenderOptions
from breakscope.report.formats._words import places
from breakscope.report.model import Finding, Gap, Report, ReportError
from breakscope.report.summary import gap_text, summary

KINDS = ("failure", "error", "skipped")


def render(report: Report, options: RenderOptions) -> str:
    suites: dict[str, list[ElementTree.Element]] = {}
    for finding in for_each_cause(report.findings):
        suites.setdefault(finding.path, []).append(_finding(finding))
    for error in report.errors:
        suites.setdefault(error.path, []).append(_problem(error, "error", error.message))
    for gap in report.gaps:  # what could not be looked at has neither passed nor failed
        suites.setdefault(gap.path, []).append(_problem(gap, "skipped", gap_text(gap)))
    if not suites:
        suites[""] = [_case("no findings", "")]
    document = ElementTree.Element("testsuites", {"name": "breakscope"})
    document.extend(_suite(path, cases) for path, cases in suites.items())
    every = [case for cases in suites.values() for case in cases]
    counts = _counts(every)
    del counts["skipped"]  # which only a suite has
    document.attrib |= counts
    first = document.find("testsuite")
    ElementTree.SubElement(first, "system-out").text = visible(summary(report))
    ElementTree.indent(document)
    text = ElementTree.tostring(document, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(path: str, cases: list[ElementTree.Element]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": _shown(path), **_counts(cases)})
    suite.extend(cases)
    return suite


def _counts(cases: list[ElementTree.Element]) -> dict[str, str]:
    failures, errors, skipped = (sum(c.find(kind) is not None for c in cases) for kind in KINDS)
    return {
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(skipped),
    }


def _finding(finding: Finding) -> ElementTree.Element:
    place = f"{finding.line}:{finding.column}"
    case = _case(f"{finding.code} {finding.rule} at {place}", finding.path)
    message = ", ".join(filter(None, (finding.message, only_when(finding))))
    kind = "skipped" if finding.evidence == "refuted" else "failure"
    lines = (
        f"{finding.path}:{place}: {finding.code} {message}",
        finding.help,
        *finding.also,
        places(finding),
    )
    _outcome(case, kind, finding.code, message, [line for line in lines if line])
    return case


def _problem(problem: ReportError | Gap, kind: str, text: str) -> ElementTree.Element:
    name = "gap" if kind == "skipped" else "error"
    case = _case(f"{name} at {problem.line or 1}" if problem.path else name, problem.path)
    details = problem.detail.splitlines() if isinstance(problem, ReportError) else []
    _outcome(case, kind, name, text, [text, *details])
    return case


def _case(name: str, path: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", {"name": visible(name), "classname": _shown(path)})


def _outcome(
    case: ElementTree.Element, kind: str, name: str, message: str, lines: list[str]
) -> None:
    attributes = {"type": visible(name), "message": in_one_line(message)}
    outcome = ElementTree.SubElement(case, kind, attributes)
    outcome.text = "\n".join(visible_line(line) for text in lines for line in text.splitlines())


def _shown(path: str) -> str:
    return visible(path) or "breakscope"
