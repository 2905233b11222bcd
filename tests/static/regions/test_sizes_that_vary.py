"""What is advised where tensors come in several sizes. Each was followed under torch 2.13."""

import pytest
from programs import analysed

PROGRAM = """\
import torch


@torch.compile
def step(x{more}):
    return (x.softmax(-1){use}).sum()


for n in ({values}):
    step({given})
"""
MARK = "`torch._dynamo.mark_dynamic(x, {})` before the first call"
ONE = "size 1 is a version of its own"


@pytest.mark.parametrize(
    ("given", "values", "wanted"),
    [
        ("torch.ones(n, 4)", "8, 6, 5", MARK.format(0)),
        ("torch.ones(4, n)", "8, 6, 5", MARK.format(1)),
        ("torch.ones(n, n + 1)", "8, 6, 5", MARK.format([0, 1])),
        ("torch.ones(n, 4)", "8, 1, 5", MARK.format(0)),
        ("torch.ones(n, 4)", "8, 1", ONE),
        ("torch.ones(n, 4)", "8, 0", "size 0 is a version of its own"),
    ],
)
def test_the_dimension_is_named(given, values, wanted, tmp_path):
    source = PROGRAM.format(given=given, values=values, more="", use="")
    (finding,) = analysed(tmp_path, {"parts.py": source}).findings
    assert wanted in finding.help
    assert (ONE in finding.help) == ("1" in values.split(", "))


def test_tensors_that_grow_together_are_not_marked_one_by_one(tmp_path):
    """The other's size would keep the marked one from being a symbol, which torch refuses."""
    source = PROGRAM.format(
        given="torch.ones(n, 4), torch.ones(n, 4)", values="8, 6, 5", more=", y", use=" * y"
    )
    findings = analysed(tmp_path, {"parts.py": source}).findings
    assert findings and all("dynamic=True" in f.help for f in findings)
    assert not any("mark_dynamic" in f.help for f in findings)
