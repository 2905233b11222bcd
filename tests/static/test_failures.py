"""What cannot be analysed is said, and costs nothing that was found elsewhere."""

from __future__ import annotations

import pytest

from breakscope.static import StaticOptions, analyze
from breakscope.static.interpreter import Interpreter

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return x + 1
"""


@pytest.fixture
def two_files(tmp_path):
    for name in ("first.py", "second.py"):
        (tmp_path / name).write_text(SOURCE)
    return tmp_path


def test_a_mistake_of_ours_is_a_note_and_the_other_file_is_analysed(two_files, monkeypatch):
    original = Interpreter.exec_If

    def broken(self, node, frame):
        if frame.module.path.endswith("first.py"):
            raise KeyError("surprise")
        return original(self, node, frame)

    monkeypatch.setattr(Interpreter, "exec_If", broken)
    result = analyze([two_files], StaticOptions(torch="2.13.0"))
    assert [f.path.rpartition("/")[2] for f in result.findings] == ["second.py"]
    assert len(result.notes) == 1 and "first.py" in result.notes[0] and "KeyError" in result.notes[0]


def test_an_entry_that_names_nothing_is_an_error(two_files):
    result = analyze([two_files], StaticOptions(torch="2.13.0", entries=("*::Net", "*::absent")))
    assert [e.message for e in result.errors] == ["--entry *::absent names no function, class or object that was checked"]
    assert len(result.findings) == 2
