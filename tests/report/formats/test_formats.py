"""The formats for machines, and what every format has in common."""

import json
from pathlib import Path

import pytest
from facts import BASE, BROKEN_FILE, CONFIRMED, FULL, ODD_PATH, RECOMPILE, finding, report
from jsonschema import Draft7Validator

from breakscope.errors import UserError
from breakscope.report import formats
from breakscope.report.formats import RenderOptions, RuleText, render
from breakscope.report.model import from_json

SARIF_SCHEMA = json.loads(
    Path(__file__).with_name("sarif-schema-2.1.0.json").read_text(encoding="utf-8")
)
RULES = {
    "BRK203": RuleText(
        "BRK203",
        "scalar-cast",
        "error",
        "A cast reads a tensor.",
        "A cast reads a tensor.\n\nWhy it\ndoes.\n\nMore.",
    )
}
PLAIN = RenderOptions()


def test_the_formats_are_the_files_of_the_folder():
    files = {
        p.stem for p in Path(formats.__file__).parent.glob("*.py") if not p.stem.startswith("_")
    }
    assert set(formats.names()) == files
    assert {"text", "json", "github", "sarif", "concise"} <= files


@pytest.mark.parametrize("name", ["xml", "_layout", "__init__"])
def test_an_unknown_format_is_refused(name):
    with pytest.raises(UserError, match="the formats are concise, github, gitlab, json"):
        formats.load(name)


def test_json_is_the_report():
    assert from_json(render(FULL, "json", PLAIN).encode()) == FULL


def test_concise_is_one_line_for_each():
    lines = render(FULL, "concise", PLAIN).splitlines()
    assert lines == [
        f"models/moe.py:41:15: BRK203 {CONFIRMED.message} [confirmed]",
        f"models/moe.py:12:15: BRK701 {RECOMPILE.message} [observed]",
        f"my models/ä:b,c%.py:41:15: BRK203 {BASE.message}, only when `self.config.cache`",
        "models/bad file.py:3:1: error: invalid syntax: expected ':'",
        "error: the target raised ValueError: x",
    ]


def test_concise_keeps_a_long_message_on_one_line():
    assert render(report(finding(message="two\nlines")), "concise", PLAIN).count("\n") == 1


def test_github_escapes_properties_and_text():
    command = render(
        report(finding(path="a:b,c%.py", message="100 %\r\nof it", help="write `x`")),
        "github",
        PLAIN,
    )
    assert command == (
        "::error file=a%3Ab%2Cc%25.py,line=41,endLine=41,col=15,endColumn=32,title=BRK203 scalar-cast"
        "::100 %25%0Aof it%0Awrite `x`\n"
    )


def test_github_gives_columns_on_one_line_only():
    assert "col=" not in render(report(finding(end_line=43)), "github", PLAIN)


def test_github_levels_and_errors():
    lines = render(
        report(RECOMPILE, finding(severity="info"), errors=(BROKEN_FILE,)), "github", PLAIN
    ).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::notice", "::error"]
    assert (
        lines[2]
        == "::error file=models/bad file.py,line=3,title=breakscope::invalid syntax: expected ':'"
    )


@pytest.mark.parametrize(
    "shown", [report(), FULL, report(ODD_PATH, finding(end_line=43)), report(errors=(BROKEN_FILE,))]
)
def test_sarif_is_valid_by_the_official_schema(shown):
    document = json.loads(render(shown, "sarif", RenderOptions(rules=RULES)))
    assert [e.message for e in Draft7Validator(SARIF_SCHEMA).iter_errors(document)] == []
    assert document["version"] == "2.1.0" and document["$schema"] == SARIF_SCHEMA["$id"]


def sarif_run(shown):
    return json.loads(render(shown, "sarif", RenderOptions(rules=RULES)))["runs"][0]


def test_sarif_rules_carry_their_pages():
    rules = sarif_run(FULL)["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["BRK203", "BRK701"]
    assert rules[0]["help"]["markdown"] == RULES["BRK203"].page
    assert rules[0]["fullDescription"] == {"text": "Why it does."}
    assert rules[0]["defaultConfiguration"] == {"level": "error"}
    results = sarif_run(FULL)["results"]
    assert [rules[r["ruleIndex"]]["id"] for r in results] == [r["ruleId"] for r in results]


def test_sarif_places():
    place = sarif_run(FULL)["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "models/moe.py"
    assert place["region"] == {
        "startLine": 41,
        "startColumn": 15,
        "endLine": 41,
        "endColumn": 32,
        "snippet": {"text": "int(counts.max())"},
    }
    assert (
        sarif_run(report(ODD_PATH))["results"][0]["locations"][0]["physicalLocation"][
            "artifactLocation"
        ]["uri"]
        == "my%20models/%C3%A4%3Ab%2Cc%25.py"
    )
    assert (
        sarif_run(report(finding(path="/tmp/a b.py")))["results"][0]["locations"][0][
            "physicalLocation"
        ]["artifactLocation"]["uri"]
        == "file:///tmp/a%20b.py"
    )


def test_sarif_chain_is_a_code_flow_that_ends_at_the_finding():
    (flow,) = sarif_run(FULL)["results"][0]["codeFlows"]
    steps = [s["location"] for s in flow["threadFlows"][0]["locations"]]
    assert [s["message"]["text"] for s in steps] == ["MoE.forward", "route", CONFIRMED.message]
    assert [s["physicalLocation"]["region"]["startLine"] for s in steps] == [28, 41, 41]


def test_sarif_fix_replaces_whole_lines():
    (fix,) = sarif_run(FULL)["results"][0]["fixes"]
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {
        "startLine": 41,
        "startColumn": 1,
        "endLine": 42,
        "endColumn": 1,
    }
    assert replacement["insertedContent"]["text"] == "        cap = counts.max()\n"
    assert "unsafe" in fix["description"]["text"]


def test_sarif_fingerprints_survive_moved_lines_and_distinguish_equals():
    def prints(*findings):
        return [
            r["partialFingerprints"]["breakscope/v1"]
            for r in sarif_run(report(*findings))["results"]
        ]

    moved = finding(line=81, first_source_line=80)
    assert prints(BASE) == prints(moved)
    assert len(set(prints(BASE, moved, finding(function="other"), finding(code="BRK204")))) == 4


def test_sarif_shows_that_something_failed():
    invocation = sarif_run(FULL)["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert [n["message"]["text"] for n in invocation["toolExecutionNotifications"]] == [
        e.message for e in FULL.errors
    ]
    assert sarif_run(report())["invocations"] == [{"executionSuccessful": True}]
