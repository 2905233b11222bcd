"""What cannot be analysed is said, and costs nothing that was found elsewhere."""

from __future__ import annotations

import ast
import sys

import pytest
from programs import analysed, found

from breakscope import limits
from breakscope.static import StaticOptions, analyze
from breakscope.static.interpreter.tables import EXPRESSIONS, STATEMENTS
from breakscope.static.project.recursion import with_room

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


def fail_in_first(monkeypatch, kind):
    """Let what runs this kind of node fail in the file `first.py`, as a mistake of ours would."""
    table = STATEMENTS if kind in STATEMENTS else EXPRESSIONS
    original = table[kind]

    def broken(machine, node, frame):
        if frame.module.path.endswith("first.py"):
            raise KeyError("surprise")
        return original(machine, node, frame)

    monkeypatch.setitem(table, kind, broken)


def test_a_mistake_of_ours_is_a_note_and_the_other_file_is_analysed(two_files, monkeypatch):
    fail_in_first(monkeypatch, ast.If)
    result = analyze([two_files], StaticOptions(torch="2.13.0"))
    assert [f.path.rpartition("/")[2] for f in result.findings] == ["second.py"]
    assert (
        len(result.gaps) == 1
        and "first.py" in result.gaps[0].path
        and "KeyError" in result.gaps[0].message
    )


def test_a_mistake_of_ours_in_what_a_library_hands_out_is_a_note_too(tmp_path, monkeypatch):
    package = tmp_path / "given"
    package.mkdir()
    (package / "__init__.py").write_text("from .first import read\nfrom .second import tell\n")
    for name, function in (("first", "read"), ("second", "tell")):
        (package / f"{name}.py").write_text(
            f"import torch\n\n\ndef {function}(x: torch.Tensor):\n    return x.item()\n"
        )
    fail_in_first(monkeypatch, ast.Return)
    result = analyze([package], StaticOptions(torch="2.13.0"))
    assert [f.path.rpartition("/")[2] for f in result.findings] == ["second.py"]
    assert (
        len(result.gaps) == 1
        and "first.py" in result.gaps[0].path
        and "KeyError" in result.gaps[0].message
    )


def test_an_entry_that_names_nothing_is_an_error(two_files):
    result = analyze([two_files], StaticOptions(torch="2.13.0", entries=("*::Net", "*::absent")))
    assert [e.message for e in result.errors] == [
        "--entry *::absent names no function, class, method or object that was checked"
    ]
    assert len(result.findings) == 2


CYCLE = """\
    import torch

    def load(flag):
        table = {"name": "a"}
        table["self"] = table
        other = {"name": "b"}
        other["self"] = other
        return table if flag else other

    class Net(torch.nn.Module):
        def __init__(self, flag):
            super().__init__()
            self.table = load(flag)
            self.limit = torch.nn.Parameter(torch.ones(1))
        def forward(self, x):
            if self.limit > 0:
                return x
            return -x
    """


def test_a_dict_that_holds_itself_does_not_cost_the_constructor(tmp_path):
    assert found(analysed(tmp_path, {"net.py": CYCLE})) == [("BRK101", 16)]


def test_a_call_that_seems_to_raise_does_not_end_a_constructor(tmp_path):
    source = """\
        import torch

        def backbone(name):
            if len(name) > 2:
                raise RuntimeError(name)
            return name

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.back = backbone("resnet")
                self.limit = torch.nn.Parameter(torch.ones(1))
            def forward(self, x):
                if self.limit > 0:
                    return x
                return -x
        """
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK101", 14)]


def test_deep_code_has_more_frames_than_python_allows_by_itself():
    """Forty calls inside each other take more than 1,000; the caller's limit comes back."""
    before = sys.getrecursionlimit()
    assert with_room(sys.getrecursionlimit) >= limits.MOST_FRAMES > 1_000
    with pytest.raises(KeyError):
        with_room({}.popitem)
    assert sys.getrecursionlimit() == before


def test_a_list_that_holds_itself_may_be_part_of_a_text(tmp_path):
    source = """\
        import torch

        @torch.compile
        def step(x):
            rows = [1]
            rows.append(rows)
            name = f"{rows}"
            return x.sum().item()
        """
    result = analysed(tmp_path, {"step.py": source})
    assert found(result) == [("BRK201", 8)]
    assert result.gaps == ()
