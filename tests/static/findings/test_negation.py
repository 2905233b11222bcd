"""Conditions in findings: no negation more than is needed."""

import pytest

from breakscope.static.findings.negation import simplified


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("self.training", "self.training"),
        ("not self.training", "not self.training"),
        ("not (x is None)", "x is not None"),
        ("not (x is not None)", "x is None"),
        ("not (mode == 'fast')", "mode != 'fast'"),
        ("not (n in seen)", "n not in seen"),
        ("not (not (a or b))", "a or b"),
        ("not (not self.training and self.cached)", "self.training or not self.cached"),
        ("not (x is not None and y is not None)", "x is None or y is None"),
        ("not (is_fa2 or version == 2)", None),
        ("not (hasattr(self, 'loss'))", "not hasattr(self, 'loss')"),
        ("not (size < 2)", None),
        ("not (x is cut off...", None),
        ("not a or b", None),
        ("x is not None", None),
    ],
)
def test_needless_negations_go(condition, shown):
    assert simplified(condition) == (shown or condition)
