"""The laws of rules about the use of torch.compile itself: their examples are programs that are
run."""

import contextlib
import io
import re

import pytest
import torch
from capture import recording
from examples import lines_of, marked_lines, programs

from breakscope.static import StaticOptions, analyze

ALL = programs()
each = pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])


def found_in(rule, function):
    """What a check of the rule's own file says of one function."""
    result = analyze([rule.path], StaticOptions())
    assert not result.errors and not result.gaps
    first, last = lines_of(function)
    return [f for f in result.findings if first <= f.line <= last and f.confidence != "possible"]


def shown_by(function):
    """Run a program of an example: how many graphs it compiled, what it returned, the exception
    that ended it."""
    torch.manual_seed(0)
    returned, error = None, ""
    with (
        recording() as seen,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            returned = function()
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
    return {"graphs": seen.graphs, "returns": returned, "error": error}


def assert_shown(function, expected):
    seen = shown_by(function)
    wanted = dict(expected)
    pattern = wanted.pop("error", "")
    assert {name: seen[name] for name in wanted} == wanted, seen
    assert bool(seen["error"]) == bool(pattern) and re.search(pattern, seen["error"]), seen["error"]


@each
def test_1_source_analysis_flags_the_marked_lines_and_nothing_else(case):
    found = found_in(case.rule, case.example.bad)
    assert marked_lines(case), (
        f"mark the lines of {case.example.bad.__name__} with `# {case.rule.code}`"
    )
    assert {f.line for f in found if f.code == case.rule.code} == marked_lines(case)
    others = {f.line for f in found if f.code != case.rule.code}
    assert others == marked_lines(case, others=True)
    assert found_in(case.rule, case.example.good) == []


def needs_its_device(case):
    if case.example.on == "cuda" and not torch.cuda.is_available():
        pytest.skip("shows nothing without a GPU")


@each
def test_2_running_the_program_shows_what_the_rule_says(case):
    needs_its_device(case)
    assert_shown(case.example.bad, case.example.shows)


@each
def test_3_the_good_twin_shows_the_opposite(case):
    needs_its_device(case)
    assert_shown(case.example.good, case.example.instead)
