"""The formats of CI services: GitLab's code quality, and JUnit; what SARIF says of the tool and of
fixes."""

import json
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from facts import BASE, BROKEN_FILE, CONFIRMED, FULL, ODD_PATH, RECOMPILE, finding, report
from jsonschema import Draft202012Validator

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.formats import RenderOptions, render, sarif
from breakscope.report.model import Edit, Fix, Gap

FOLDER = Path(__file__).parent
GITLAB = json.loads((FOLDER / "gitlab-code-quality.json").read_text(encoding="utf-8"))
PLAIN = RenderOptions()
GAP = Gap(message="too deep", path="a.py", line=4, function="f")
HOSTILE = finding(path="a\x1b[31m<&\udcff.py", message='say "a" ]]> & <b>\x00\nthen', end_line=43)
REPORTS = [
    report(),
    FULL,
    report(ODD_PATH, finding(end_line=43), HOSTILE),
    report(finding(line=0, column=0)),
    report(errors=(BROKEN_FILE,), gaps=(GAP, Gap(message="no place"))),
    report(BASE, BASE, finding(evidence="refuted")),
]


def gitlab(shown):
    return json.loads(render(shown, "gitlab", PLAIN))


@pytest.mark.parametrize("shown", REPORTS)
def test_gitlab_is_valid_by_the_schema(shown):
    issues = gitlab(shown)
    assert [e.message for e in Draft202012Validator(GITLAB).iter_errors(issues)] == []
    listed = for_each_cause(shown.findings)
    assert len(issues) == len(listed) + len(shown.errors) + len(shown.gaps)
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == len(prints)


def test_the_schema_refuses_what_gitlab_would():
    (issue,) = gitlab(report(BASE))
    for wrong in ({"severity": "error"}, {"location": {"path": "a.py"}}, {"description": ""}):
        assert not Draft202012Validator(GITLAB).is_valid([issue | wrong])


def test_gitlab_shows_places_and_severities():
    issues = gitlab(report(CONFIRMED, RECOMPILE, errors=(BROKEN_FILE,), gaps=(GAP,)))
    assert [(i["check_name"], i["severity"]) for i in issues] == [
        ("BRK203", "major"),
        ("BRK701", "minor"),
        ("breakscope-error", "blocker"),
        ("breakscope-gap", "info"),
    ]
    assert issues[0]["location"] == {"path": "models/moe.py", "lines": {"begin": 41, "end": 41}}
    assert issues[0]["description"] == f"BRK203 {CONFIRMED.message}"
    assert issues[2]["location"]["lines"]["begin"] == 3


def test_gitlab_knows_a_finding_again_after_its_lines_moved():
    moved = finding(line=81, first_source_line=80)
    assert gitlab(report(BASE))[0]["fingerprint"] == gitlab(report(moved))[0]["fingerprint"]


@pytest.mark.parametrize("shown", REPORTS)
def test_junit_is_valid_by_the_schema(shown):
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(FOLDER / "junit-10.xsd"))
    text = render(shown, "junit", PLAIN)
    assert [str(e) for e in schema.iter_errors(text)] == []
    assert not schema.is_valid(text.replace("name=", "title="))


def junit(shown):
    return ElementTree.fromstring(render(shown, "junit", PLAIN).encode())


def test_junit_has_a_suite_for_each_file_and_counts():
    document = junit(FULL)
    suites = {suite.get("name"): suite for suite in document}
    assert list(suites) == [
        "models/moe.py",
        "my models/ä:b,c%.py",
        "models/bad file.py",
        "breakscope",
    ]
    assert {key: document.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "5",
        "failures": "3",
        "errors": "2",
    }
    cases = suites["models/moe.py"].findall("testcase")
    assert [case.get("name") for case in cases] == [
        "BRK203 scalar-cast at 41:15",
        "BRK701 int-attribute at 12:15",
    ]
    failure = cases[0].find("failure")
    assert (failure.get("type"), failure.get("message")) == ("BRK203", CONFIRMED.message)
    assert failure.text.splitlines() == [
        f"models/moe.py:41:15: BRK203 {CONFIRMED.message}",
        CONFIRMED.help,
    ]


def test_junit_of_nothing_is_a_test_that_passed():
    (case,) = junit(report()).iter("testcase")
    assert case.get("name") == "no findings" and len(case) == 0


def test_junit_skips_what_could_not_be_looked_at_and_what_a_run_refuted():
    cases = list(junit(report(finding(evidence="refuted"), gaps=(GAP,))).iter("testcase"))
    assert [case.find("skipped") is not None for case in cases] == [True, True]
    assert cases[1].find("skipped").get("message") == "too deep (in `f`)"


def sarif_run(shown):
    return json.loads(render(shown, "sarif", PLAIN))["runs"][0]


def test_sarif_names_the_address_that_the_package_names(monkeypatch):
    named = metadata.metadata("breakscope")
    assert sarif_run(FULL)["tool"]["driver"].get("informationUri") == (sarif._address() or None)
    named.add_header("Project-URL", "Source, https://example.org/breakscope")
    monkeypatch.setattr(sarif.metadata, "metadata", lambda name: named)
    assert "informationUri" in sarif_run(FULL)["tool"]["driver"]


def test_sarif_fixes_are_whole():
    fix = Fix(
        safety="safe",
        description="hoist it",
        line=41,
        end_line=41,
        replacement="        cap = self.cap\n",
        imports=("import math",),
        also=(Edit(line=12, end_line=13, replacement="        self.cap = 4\n"),),
    )
    shown = report(msgspec.structs.replace(BASE, fix=fix))
    (change,) = sarif_run(shown)["results"][0]["fixes"]
    (artifact,) = change["artifactChanges"]
    regions = [
        (r["deletedRegion"]["startLine"], r["deletedRegion"]["endLine"])
        for r in artifact["replacements"]
    ]
    assert regions == [(41, 42), (12, 14)]
    assert change["description"]["text"] == "hoist it (safe; needs `import math`)"
