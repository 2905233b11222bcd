"""Attributes that the constructor of a base in another file sets in a branch, and the constructor of the class after it."""

import pytest
from programs import analysed, found

BASE = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width, groups=1):
        super().__init__()
        # a file that is longer than the other
        # by some lines
        # of comments
        # so that the lines of its branches
        # are in no other file
        # of this project
        self.scale = None
        if groups == 1:
            self.scale = 2.0
"""
DERIVED = """\
from base import Base


class Derived(Base):
    def __init__(self, width, groups=1):
        super().__init__(width, groups)
        if {test}:
            self.scale = {value}

    def forward(self, x):
        return x * x.sum().item() if self.scale is not None else x
"""


@pytest.mark.parametrize(
    ("test", "value"), [("groups == 1", "width"), ("groups != 1", "4.0"), ("width > 3", "None")]
)
def test_each_branch_is_read_in_its_own_file(test, value, tmp_path):
    files = {"derived.py": DERIVED.format(test=test, value=value), "base.py": BASE}
    result = analysed(tmp_path, files)
    assert not result.gaps
    assert found(result) == [("BRK201", 11)]
