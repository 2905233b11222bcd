"""breakscope rule, report, --help."""

import json

import pytest
from command import BREAKS, runner

from breakscope.report import formats
from breakscope.rulekit.loader import FAMILY_TITLES, load_rules

CODES = [rule.code for rule in load_rules()]


@pytest.fixture
def run(capsys):
    return runner(capsys)


def test_the_table_holds_every_rule(run):
    done = run("rule")
    assert done.code == 0
    firsts = [line.split()[0] for line in done.out.splitlines() if line.startswith("BRK")]
    assert [first for first in firsts if not first.endswith("xx")] == CODES
    assert [first for first in firsts if first.endswith("xx")] == [
        f"BRK{digit}xx" for digit in FAMILY_TITLES
    ]


@pytest.mark.parametrize("code", CODES)
def test_every_page_shows_title_facts_and_example(run, code):
    done = run("rule", code)
    rule = next(r for r in load_rules() if r.code == code)
    assert done.code == 0 and done.out.startswith(
        f"{code} {rule.name}\n{rule.kind} | {rule.severity} | torch "
    )
    assert all(gb in done.out.replace("\n", " ") for gb in rule.gb_ids())
    assert len(done.out.splitlines()) > 5
    assert ("Flagged:" in done.out) is bool(rule.examples)


def test_a_prefix_is_a_shorter_table(run):
    lines = run("rule", "brk1").out.splitlines()
    assert {line[:4] for line in lines[1:] if not line.startswith(" ")} == {"BRK1"}


def test_an_unknown_code(run):
    done = run("rule", "BRK1O1")
    assert (
        done.code == 2 and "no rule has the code or name 'BRK1O1'; did you mean BRK101" in done.err
    )


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("branch-on-tensor", "BRK101 branch-on-tensor"),
        ("Branch-on", "code    name"),
        ("GB0124", "code  "),
        ("gb0123", ""),
        ("brk0", "BRK001 unused-suppression"),
        ("BRK10", "code  "),
    ],
)
def test_a_rule_by_name_prefix_or_id(run, asked, first):
    done = run("rule", asked)
    assert done.code == 0 and done.out.startswith(first)
    if asked.startswith("GB"):
        codes = {line.split()[0] for line in done.out.splitlines() if line.startswith("BRK")}
        wanted = {r.code for r in load_rules() if asked.upper() in r.gb_ids()}
        assert {code for code in codes if not code.endswith("xx")} == wanted


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("brnch-on-tensor", "did you mean branch-on-tensor"),
        ("xyz", "`breakscope rule` lists them"),
        ("GB9999", "no rule is about GB9999"),
    ],
)
def test_a_rule_that_does_not_exist(run, asked, hint):
    done = run("rule", asked)
    assert done.code == 2 and hint in done.err and done.err.count("\n") == 1


@pytest.fixture
def saved(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breaks.py").write_text(BREAKS)
    run("check", ".", "-f", "json", "-o", "report.json")
    return tmp_path / "report.json"


@pytest.mark.parametrize("name", formats.names())
def test_a_saved_report_in_every_format(saved, run, name):
    assert run("report", saved, "--format", name) == run("check", ".", "--format", name)


def test_several_reports_are_one(saved, run):
    done = run("report", saved, saved, "--format", "json")
    one = json.loads(saved.read_text())
    assert json.loads(done.out)["findings"] == one["findings"]


def test_a_saved_report_can_be_narrowed(saved, run):
    assert {
        f["code"]
        for f in json.loads(run("report", saved, "-f", "json", "--select", "BRK1").out)["findings"]
    } == {"BRK101"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such file or folder: report.json"),
        ("{}", "report.json is no breakscope report: Object missing required field `version`"),
        ("{no json", "report.json is no breakscope report: JSON is malformed"),
        (
            "no json",
            "report.json is no report and no trace: it holds nothing that TORCH_TRACE or TORCH_LOGS writes",
        ),
    ],
)
def test_a_file_that_is_no_report(tmp_path, monkeypatch, run, text, said):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "report.json").write_text(text)
    done = run("report", "report.json")
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "run", "rule", "report", "trace"])
def test_help(run, command):
    done = run(command, "--help")
    assert done.code == 0 and f"Usage: breakscope {command}" in done.out
    assert command in run("--help").out


def test_no_arguments_show_help(run):
    done = run()
    assert done.code == 2 and "Usage: breakscope" in done.out
