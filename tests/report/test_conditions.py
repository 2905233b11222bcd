"""Conditions in positive words."""

import pytest
from facts import finding

from breakscope.report.conditions import in_words, only_when


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("self.training", "`self.training`"),
        ("not self.training", "`self.training` is false"),
        ("mask is not None", "`mask` is given"),
        ("not (mask is None)", "`mask` is given"),
        ("not (mask is not None)", "`mask` is None"),
        ("self.bias is not None", "`self.bias` is set"),
        ("not (size < 2)", "`size >= 2`"),
        ("not (mode == 'fast')", "`mode != 'fast'`"),
        ("not (a or b is None)", "`a` is false and `b` is given"),
        ("not (a and b)", "`a` is false or `b` is false"),
        ("a and (not b or c)", "`a` and (`b` is false or `c`)"),
        ("a is None or b is not None", "`a` is None or `b` is given"),
        ("not isinstance(x, Tensor)", "`isinstance(x, Tensor)` is false"),
        ("not (x is cut off...", "`not (x is cut off...`"),
    ],
)
def test_a_condition_is_said_in_positive_words(condition, words):
    assert in_words(condition) == words


def test_a_finding_says_when_its_code_runs():
    assert only_when(finding()) == ""
    assert only_when(finding(condition="mask is not None")) == "only when `mask` is given"
    assert only_when(finding(backward=True)) == "only in the backward pass"
