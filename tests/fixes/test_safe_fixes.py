"""Fixes that are called safe, on random calls; benchmarks/safe_fixes.py makes many more of them."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import safe_fixes

from breakscope.rulekit.loader import load_rules

PROGRAMS = sorted(safe_fixes.PROGRAMS.glob("*.py"))
FOREVER = float("inf")
OF_COMMENTS = {"BRK001"}  # the fix removes a comment: what runs is the same


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_safe_fix_changes_nothing(program):
    result = safe_fixes.tried(program, 40, 2, seed=1, until=FOREVER)
    assert result.mismatches == []
    assert result.runs == 40 and result.compiled


def test_every_rule_that_calls_its_fix_safe_has_a_program():
    codes = {code for p in PROGRAMS for code in safe_fixes.fixed_text(p)[1]}
    of_code = {rule.code for rule in load_rules() if rule.fix == "safe"} - OF_COMMENTS
    assert of_code == codes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x * 2", "x + x * 1.0000001"),
        ("x + y", "x + y + 0 * y.sum()"),
        ("x + y", "x.add_(y)"),
        ("x = x * 2", "x = x * 2; torch.rand(())"),
        ("x = x * 2", "x = x * 2; print(1)"),
        ("x = x * 2", "x = x.detach() * 2"),
    ],
)
def test_what_changes_something_is_a_mismatch(before, after, monkeypatch):
    text = (safe_fixes.PROGRAMS / "brk502_between.py").read_text(encoding="utf-8")
    monkeypatch.setattr(
        safe_fixes, "fixed_text", lambda program: (text.replace(before, after), {"BRK502"})
    )
    result = safe_fixes.tried(
        safe_fixes.PROGRAMS / "brk502_between.py", 60, 0, seed=1, until=FOREVER
    )
    assert result.mismatches
