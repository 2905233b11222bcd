"""One finding for one cause in one function, in the formats that people read."""

import json

import pytest
from facts import finding, report

from breakscope.report.combining.causes import for_each_cause
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Cost, Inside, Link


def said(name: str, **changes):
    return finding(message=f"`{name}` writes text", help=f"guard `{name}`", **changes)


def test_what_says_the_same_in_a_function_is_one_with_the_other_lines():
    found = for_each_cause([said("print(a)", line=4), said("print(b)", line=9), said("c", line=7)])
    assert [(f.line, [place.line for place in f.places]) for f in found] == [(4, [9, 7])]


@pytest.mark.parametrize(
    "other",
    [
        {"function": "other"},
        {"path": "b.py"},
        {"code": "BRK402"},
        {"condition": "self.training"},
        {"lost": "loop"},
        {"confidence": "possible"},
        {"evidence": "confirmed"},
        {"cost": Cost(step_seconds=1.0)},
    ],
)
def test_what_differs_stands_alone(other):
    assert len(for_each_cause([said("a"), said("b", line=50, **other)])) == 2


def test_what_compiles_a_function_again_is_one_whatever_decides_where_it_is_set():
    places = [(4, "self.fast"), (7, "not self.fast"), (9, "self.fast")]
    stored = [said("a", line=n, condition=c, kind="recompile") for n, c in places]
    assert [[p.line for p in f.places] for f in for_each_cause(stored)] == [[7, 9]]


def test_what_breaks_at_one_place_of_a_library_is_one_in_all_functions_of_a_file():
    def entered(name, line, library_line):
        place = Link(path="lib/metric.py", line=library_line, function="update")
        inside = Inside(message="`count` is counted", chain=(place,))
        return said(name, line=line, function=name, library="lib", inside=inside)

    found = for_each_cause([entered("A", 3, 8), entered("B", 9, 8), entered("C", 12, 20)])
    assert [(f.line, [p.line for p in f.places]) for f in found] == [(3, [9]), (12, [])]


def test_at_module_level_each_stands_alone():
    assert len(for_each_cause([said("a", function=""), said("b", line=50, function="")])) == 2


TOGETHER = report(said("print(a)", line=4), said("print(b)", line=9), said("print(c)", line=12))


@pytest.mark.parametrize("name", ["text", "github", "gitlab", "junit", "markdown"])
def test_formats_for_people_list_causes(name):
    shown = render(TOGETHER, name, RenderOptions())
    assert shown.count("`print(a)` writes") >= 1
    assert "print(b)" not in shown
    lines = "2 equal findings in this file at lines 9 and 12"
    assert (lines if name == "text" else "also at lines 9, 12") in shown


def test_formats_for_programs_list_places():
    shown = json.loads(render(TOGETHER, "json", RenderOptions()))
    assert [found["line"] for found in shown["findings"]] == [4, 9, 12]
    (run,) = json.loads(render(TOGETHER, "sarif", RenderOptions()))["runs"]
    assert len(run["results"]) == 3
    assert len(render(TOGETHER, "concise", RenderOptions()).splitlines()) == 3


def test_where_fixes_are_shown_each_place_has_its_own():
    assert "print(b)" in render(TOGETHER, "text", RenderOptions(fixes=True))
