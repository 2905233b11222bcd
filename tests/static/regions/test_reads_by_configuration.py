"""What a region sets, and reads before only where a flag of its object says so. Measured under torch 2.13: without the
flag it is compiled once."""

import pytest
from programs import analysed

PROGRAM = """\
import torch


class Conv(torch.nn.Module):
    def __init__(self, is_cached=False, is_checked=False):
        super().__init__()
        self.is_cached = is_cached
        self.is_checked = is_checked
        self.result = None

    def forward(self, x):
        {first}
        if {test}:
            self.result = x, x * 2
        first, second = self.result
        return first + second
"""
CHECK = "if self.is_cached and self.result is not None: x = x + 1"


@pytest.mark.parametrize(
    ("first", "test", "condition"),
    [
        (CHECK, "not self.is_cached or self.result is None", "self.is_cached"),
        ("x = x + 1", "not self.is_cached or self.result is None", "self.is_cached"),
        ("x = x + 1", "self.result is None", ""),
        (CHECK.replace("cached", "checked"), "self.result is None", ""),
        (CHECK.replace("self.is_cached and", ""), "not self.is_cached or self.result is None", ""),
    ],
)
def test_the_condition_of_the_reads(first, test, condition, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(first=first, test=test)})
    (kept,) = [f for f in result.findings if f.code == "BRK707"]
    assert (kept.line, kept.condition) == (14, condition)
