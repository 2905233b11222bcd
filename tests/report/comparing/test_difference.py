"""What changed between two reports, and how it is shown."""

import json

import msgspec
import pytest
from facts import CONFIRMED, FULL, RECOMPILE, RUN, finding, report
from jsonschema import Draft202012Validator

from breakscope.report import schema
from breakscope.report.comparing import markdown, text
from breakscope.report.comparing.budget import Allowed
from breakscope.report.comparing.difference import difference
from breakscope.report.comparing.judging import judged
from breakscope.report.escaping import struct_json
from breakscope.report.model import Cost, Report

NAMES = ("before.json", "after.json")
BEFORE = report(
    CONFIRMED,
    RECOMPILE,
    finding(line=60, source=("    y = int(x)",), first_source_line=60),
    run=msgspec.structs.replace(RUN, compile_seconds=20.0, breaks_cost=Cost(step_seconds=0.002)),
)
AFTER = report(
    msgspec.structs.replace(
        CONFIRMED, line=44, end_line=44, first_source_line=43, count=5, cost=None
    ),
    finding(line=60, source=("    y = int(x)  # now",), first_source_line=60),
    finding(line=90, code="BRK101", message="`if y` | reads @user <b>", help="use `torch.where`"),
    run=msgspec.structs.replace(RUN, compile_seconds=5.0, share_compiled=0.8),
    torch="2.14.0",
)
FOUND = difference(BEFORE, AFTER, NAMES)


def test_gone_new_moved():
    assert [f.code for f in FOUND.gone] == ["BRK701"]
    assert [(f.code, f.line) for f in FOUND.new] == [("BRK101", 90)]
    assert [(m.before.line, m.finding.line) for m in FOUND.moved] == [(41, 44)]
    assert FOUND.unchanged == 1


def test_nothing_changed():
    same = difference(FULL, FULL, NAMES)
    assert (same.gone, same.new, same.moved, same.notes) == ((), (), (), ())
    assert same.unchanged == len(FULL.findings)


def test_refuted_predictions_are_no_findings():
    refuted = report(finding(evidence="refuted"))
    assert difference(report(), refuted, NAMES).new == ()


def test_numbers():
    figures = {f.name: (f.before, f.after) for f in FOUND.figures}
    assert figures["break events"] == (3, 5)
    assert figures["compiled"] == (62.0, 80.0)
    assert figures["compiling"] == (20.0, 5.0)
    assert figures["breaks cost per step"] == (0.002, None)
    assert "errors" not in figures


def test_what_makes_them_less_comparable():
    assert FOUND.notes == ("torch 2.13.0 before, 2.14.0 after",)
    (first, *_) = difference(report(), AFTER, NAMES).notes
    assert first.startswith("the earlier report holds no run")


def test_text():
    lines = text.render(FOUND, None, color=False).splitlines()
    assert lines == [
        "note: torch 2.13.0 before, 2.14.0 after",
        "new: models/moe.py:90:15: BRK101 `if y` | reads @user <b>",
        f"gone: models/moe.py:12:15: BRK701 {RECOMPILE.message} (2 events, 12 s of compiling)",
        f"moved: models/moe.py:44:15: BRK203 {CONFIRMED.message} (was at line 41)",
        "",
        "                      before  after",
        "breaks                     1      1",
        "break events               3      5          +2",
        "skipped frames             1      1",
        "graphs                     4      4",
        "compiled                 62%    80%  +18 points",
        "compiling               20 s    5 s        -75%",
        "breaks cost per step    2 ms      -",
        "",
        "1 new, 1 gone, 1 moved, 1 unchanged.",
    ]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_text_in_a_terminal(width):
    shown = text.render(FOUND, width, color=False)
    assert all(len(line) <= width for line in shown.splitlines())
    assert text.render(FOUND, width, color=True) != shown


def test_markdown():
    lines = markdown.render(FOUND).splitlines()
    assert lines[:2] == [
        markdown.MARK,
        "**breakscope: 1 new, 1 gone, 1 moved, 1 unchanged**",
    ]
    assert "| compiling | 20 s | 5 s | -75% |" in lines
    (new,) = [line for line in lines if line.startswith("| new |")]
    # a bar in code would end the cell, a name would be told, a tag would be one
    assert new == (
        r"| new | `models/moe.py:90` | BRK101 | `if y` \| reads `@`user \<b\> | use `torch.where` |  |"
    )


def test_budgets_are_those_of_the_later_report():
    found = difference(BEFORE, judged(AFTER, Allowed(breaks=0)), NAMES)
    assert "over budget: 1 break, 0 allowed" in text.render(found, None, color=False)
    assert "- **over budget**: 1 break, 0 allowed" in markdown.render(found)


def test_json_follows_its_schema():
    written = json.loads(struct_json(FOUND))
    Draft202012Validator(json.loads(schema.difference_text())).validate(written)
    assert written["moved"][0]["before"] == {
        "path": "models/moe.py",
        "line": 41,
        "function": "route",
        "cell": None,
    }


def test_the_published_schema_is_up_to_date():
    assert schema.DIFFERENCE_FILE.read_text(encoding="utf-8") == schema.difference_text(), (
        "run `python -m breakscope.report.schema`"
    )


def test_two_empty_reports():
    found = difference(Report(version="1", torch=""), Report(version="1", torch=""), NAMES)
    assert text.render(found, 80, color=False) == "no findings before, none after.\n"
    assert "no findings before" in markdown.render(found)
