"""The laws that every rule file must keep, in one place: a new rule needs no test of its own."""

import ast
import contextlib
import io
import re
from pathlib import Path

import pytest
import torch
from capture import capture
from examples import (
    MARK,
    as_program,
    assert_same,
    callable_of,
    cases,
    holds,
    lines_of,
    marked_lines,
    others,
    outcome,
    source_of,
    tokens_of,
)

from breakscope.dynamic.observations.ownership import torchs_file
from breakscope.fixes import FixOptions, fixed_sources
from breakscope.knowledge import shipped, targeting
from breakscope.static import StaticOptions, analyze

SETTING = re.compile(r"torch\._dynamo\.config\.(\w+) = True")
ALL, OTHERS = cases(), others()
TWINS = [case for case in ALL if case.example.good is not None]


def each(chosen):
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


def found_in(case, function, folder, torch=None):
    """What source analysis finds in one function of an example, when a program calls it with its
    arguments."""
    program = str(as_program(case, function, folder))
    result = analyze([program], StaticOptions(entries=(f"{program}::make",), torch=torch))
    assert not result.errors
    first, last = lines_of(function)
    return [f for f in result.findings if first <= f.line <= last and f.confidence != "possible"]


def observed(case, function, calls):
    """What Dynamo does with one function of an example over these calls; what it prints is dropped."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return capture(callable_of(function, case.example.module), calls, case.example.drive)


@each(ALL)
def test_1_source_analysis_flags_the_marked_lines_and_nothing_else(case, tmp_path):
    found = found_in(case, case.example.bad, tmp_path)
    assert {f.line for f in found if f.code == case.rule.code} == marked_lines(case)
    assert {f.line for f in found if f.code != case.rule.code} == marked_lines(case, others=True)
    if case.example.good is not None:
        left = found_in(case, case.example.good, tmp_path)
        assert {f.line for f in left} == marked_lines(case, others=True, example="good")
        assert case.rule.code not in {f.code for f in left}


@each(OTHERS)
def test_1_holds_for_the_versions_that_the_rule_names_and_for_no_other(case, tmp_path):
    for version in shipped():
        with targeting(version):
            wanted = marked_lines(case) if holds(case.rule) else set()
        found = found_in(case, case.example.bad, tmp_path, version)
        assert {f.line for f in found if f.code == case.rule.code} == wanted
        if case.example.good is not None:
            assert [
                f
                for f in found_in(case, case.example.good, tmp_path, version)
                if f.code == case.rule.code
            ] == []


@each(ALL)
def test_2_dynamo_reports_what_the_rule_declares(case):
    assert marked_lines(case), (
        f"mark the lines of {case.example.bad.__name__} with `# {case.rule.code}`"
    )
    # a second call may break elsewhere, too
    several = case.rule.kind == "recompile" or case.example.calls is not None
    sequence = case.calls if several else case.calls[:1]
    seen = observed(case, case.example.bad, sequence)
    if case.rule.kind == "recompile":
        assert set(seen.families) == case.ids
    if case.rule.kind == "break":
        assert seen.ids() == case.ids
        assert case.ids <= set(case.rule.gb_ids())
        own, others = marked_lines(case), marked_lines(case, others=True)
        # of a module of torch's Dynamo may name the lines in torch alone: such a break counts as the rule's
        lines = {b.line_in(case.rule.path) for b in seen.breaks if not is_inside_torch(b, case)}
        assert lines <= own | others
        for b in seen.breaks:
            words = b.reason.words(torchs_file(b.frames[-1][0]) if b.frames else "")
            if b.line_in(case.rule.path) in own or is_inside_torch(b, case):
                assert b.reason.gb_id in case.rule.shares or case.rule.explains(
                    b.reason.gb_id, words
                )


def is_inside_torch(seen, case) -> bool:
    """Does a break end in torch's code, without a line of the example above it?"""
    in_torch = bool(seen.frames) and bool(torchs_file(seen.frames[-1][0]))
    return in_torch and seen.line_in(case.rule.path) is None


@each(TWINS)
def test_3_the_good_twin_compiles_whole(case):
    seen = observed(case, case.example.good, case.calls)
    assert [b.reason.text for b in seen.breaks] == []
    if case.rule.kind == "recompile":
        assert seen.families == []


@each([case for case in TWINS if case.rule.fix and case.example.fixed])
def test_4_the_fix_of_bad_is_good(case, tmp_path):
    program = as_program(case, case.example.bad, tmp_path)
    # the marks are comments, which a fix must not lose
    program.write_text(MARK.sub("", program.read_text(encoding="utf-8")), encoding="utf-8")
    program = str(program)
    options = StaticOptions(entries=(f"{program}::make",))
    made = fixed_sources([program], options, FixOptions(unsafe=True))
    assert {a.finding.fix.safety for a in made.applied} <= {case.rule.fix, "unsafe"}
    changed = made.new[program].decode()
    function = next(n for n in ast.parse(changed).body if getattr(n, "name", "") == "the_example")
    text = "\n".join(changed.split("\n")[function.lineno - 1 : function.end_lineno])
    assert tokens_of(text) == tokens_of(source_of(case.example.good))


@each([case for case in TWINS if case.example.equal])
def test_5_the_good_twin_computes_the_same(case):
    example = case.example
    with_gradients = bool(case.rule.fix) and example.fixed and example.gradients
    for bad_arguments, good_arguments in zip(case.calls, case.calls):
        bad, good = (
            callable_of(f, case.example.module) for f in (case.example.bad, case.example.good)
        )
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            expected = outcome(bad, bad_arguments, with_gradients)
            actual = outcome(good, good_arguments, with_gradients)
        assert_same(expected, actual)


@each([case for case in ALL if "setting=" in Path(case.rule.path).read_text(encoding="utf-8")])
def test_6_the_setting_that_a_fix_makes_takes_the_break_away(case, tmp_path):
    found = [f for f in found_in(case, case.example.bad, tmp_path) if f.code == case.rule.code]
    made = {f.line: SETTING.findall(f.fix.replacement) for f in found if f.fix is not None}
    settings = {name: True for names in made.values() for name in names}
    if settings:
        with torch._dynamo.config.patch(settings):
            seen = observed(case, case.example.bad, case.calls[:1])
        lines = {line for line, names in made.items() if names}
        assert [
            b.reason.text
            for b in seen.breaks
            if b.line_in(case.rule.path) in lines or is_inside_torch(b, case)
        ] == []
