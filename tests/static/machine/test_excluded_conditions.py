"""Conditions that cannot hold together."""

import pytest
from programs import analysed, found

from breakscope.static.machine.given import excludes


@pytest.mark.parametrize(
    ("condition", "is_excluded"),
    [
        ('not (mode == "a")', True),
        ('not (mode == "a") and mode == "b"', True),
        ('mode == "b"', True),
        ('deep and mode == "b"', True),
        ('mode != "a"', True),
        ('mode == "a"', False),
        ("mode == 'a'", False),
        ('mode != "b"', False),
        ('other == "b"', False),
        ('deep or mode == "b"', False),
        ('not (mode == "a" and deep)', False),
    ],
)
def test_what_is_known_excludes(condition, is_excluded):
    assert excludes('self.mode == "a"', condition) is is_excluded


SOURCE = """\
from torch import nn


class Chosen(nn.Module):
    def forward(self, parts):
        for name in ("a", "b"):
            if name in parts:
                return parts[name]


class Net(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        if mode == "linear":
            self.part = nn.Linear(4, 4)
        elif mode == "chosen":
            self.part = Chosen()

    def forward(self, x):
        if self.mode == "{mode}":
            return self.part(x * 2)
        return self.part({{"a": x * 2}})
"""


@pytest.mark.parametrize(("mode", "lines"), [("linear", []), ("chosen", [7])])
def test_a_part_is_called_where_its_condition_may_hold(mode, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": SOURCE.format(mode=mode)})
    assert [line for _, line in found(result)] == lines
