"""Standard input, what a check would look at, and how much it says."""

import io
import json
import sys
import tomllib

import pytest
from command import BREAKS, CLEAN, runner

EQUAL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        print("a")
        print("b", x)
        y = x * 2
        print("c")
        return y
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(BREAKS)
    return runner(capsys)


@pytest.fixture
def typed(monkeypatch):
    def put(text):
        stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)

    return put


def lines_of(done):
    return [line.rpartition(": BRK")[0] for line in done.out.splitlines()]


def test_standard_input_is_a_file_that_need_not_be_there(run, typed):
    typed(BREAKS)
    done = run("check", "-", "-f", "concise")
    assert (done.code, lines_of(done)) == (1, ["-:6:12", "-:8:16"])
    typed(BREAKS)
    named = run("check", "-", "--stdin-filename", "new/model.py", "-f", "concise")
    assert lines_of(named) == ["new/model.py:6:12", "new/model.py:8:16"]


def test_standard_input_takes_the_place_of_its_file(run, typed, tmp_path):
    (tmp_path / "helper.py").write_text("def read(x):\n    return x.item()\n")
    typed(
        "import torch\nfrom helper import read\nclass M(torch.nn.Module):\n"
        "    def forward(self, x):\n        return read(x)\n"
    )
    arguments = ("check", "-", "--stdin-filename", "model.py", "--follow", "-f", "concise")
    assert lines_of(run(*arguments)) == ["helper.py:2:12"]


def test_the_settings_of_its_file_hold(run, typed, tmp_path):
    settings = '[tool.breakscope]\nper-file-ignores = { "tests/*" = ["BRK"] }\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    typed(BREAKS)
    assert run("check", "-", "--stdin-filename", "tests/model.py").code == 0


def test_files_are_listed_and_not_checked(run, tmp_path):
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "made.py").write_text(BREAKS)
    (tmp_path / "left_out.py").write_text("def f(:\n")
    (tmp_path / "notes.ipynb").write_text("{")
    (tmp_path / "pyproject.toml").write_text('[tool.breakscope]\nexclude = ["left_*"]\n')
    done = run("check", ".", "--show-files")
    assert (done.code, done.out.splitlines()) == (0, ["model.py", "notes.ipynb"])


def test_settings_are_shown_as_a_file_that_can_be_read(run, tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.breakscope]\nselect = ["BRK1"]\nignore = ["BRK101"]\n'
        'per-file-ignores = { "tests/*" = ["BRK4"] }\n'
    )
    done = run("check", "--show-settings", "--select", "BRK2", "--torch", "2.9", "--no-cache")
    shown = tomllib.loads(done.out)
    assert (shown["select"], shown["ignore"]) == (["BRK2"], ["BRK101"])
    assert (shown["torch"], shown["cache"], shown["libraries"]) == ("2.9", False, True)
    assert shown["per-file-ignores"] == {"tests/*": ["BRK4"]}
    assert done.code == 0 and done.out.startswith("# from pyproject.toml\n")
    (tmp_path / "shown.toml").write_text(done.out)
    again = run("check", ".", "--config", "shown.toml", "-f", "concise")
    assert lines_of(again) == ["model.py:8:16"]


def test_a_file_of_settings(run, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.breakscope]\nselect = ["BRK4"]\n')
    (tmp_path / "top.toml").write_text('select = ["BRK1"]\n')
    (tmp_path / "section.toml").write_text('[tool.breakscope]\nselect = ["BRK2"]\n')
    assert run("check", ".").code == 0
    for name, code in (("top.toml", "BRK101"), ("section.toml", "BRK201")):
        done = run("check", ".", "--config", name, "-f", "json")
        assert [f["code"] for f in json.loads(done.out)["findings"]] == [code]


def test_findings_alone_can_be_no_failure(run, tmp_path):
    assert run("check", ".", "--exit-zero").code == 0
    (tmp_path / "broken.py").write_text("def f(:\n  forward")
    assert run("check", ".", "--exit-zero").code == 2


def test_quiet_says_nothing_of_what_is_clean(run, tmp_path):
    (tmp_path / "clean.py").write_text(CLEAN)
    assert run("check", "clean.py", "--quiet").out == ""
    loud, quiet = run("check", "model.py").out, run("check", "model.py", "-q").out
    assert loud.startswith(quiet) and "2 breaks" in loud and "2 breaks" not in quiet
    (tmp_path / "broken.py").write_text("def f(:\n  forward")
    assert "error: syntax error" in run("check", "broken.py", "-q").out


def test_statistics(run, tmp_path):
    (tmp_path / "equal.py").write_text(EQUAL)
    lines = run("check", ".", "--statistics").out.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["3", "BRK401", "print"],
        ["1", "BRK101", "branch-on-tensor"],
        ["1", "BRK201", "tensor-item"],
    ]
    assert "5 breaks" in lines[-1]


def test_equal_findings_are_one_block(run, tmp_path):
    (tmp_path / "equal.py").write_text(EQUAL)
    text = run("check", "equal.py").out
    assert (
        text.count("BRK401") == 1
        and "2 equal findings in this file at lines 7 (likely) and 9" in text
    )
    assert "3 breaks" in text
    assert run("check", "equal.py", "-f", "concise").out.count("BRK401") == 3
    assert run("check", "equal.py", "--show-fixes").out.count("BRK401") == 3
    assert "BRK401" in run("check", ".", "--top", "1").out
    (tmp_path / "equal.py").write_text(EQUAL.replace('        print("c")\n', ""))
    two = run("check", "equal.py").out
    assert two.count("BRK401") == 1 and "1 equal finding in this file at line 7 (likely)" in two
    moved = (
        'print("c")\n        return self.second(y)\n\n    def second(self, y):\n        print("d")'
    )
    apart = EQUAL.replace('print("c")', moved).replace('        print("b", x)\n', "")
    apart = apart.replace('        print("c")\n', "")
    (tmp_path / "equal.py").write_text(apart)
    assert run("check", "equal.py").out.count("BRK401") == 2  # two are read as fast one by one
