"""The table of what people expect of a linter: every row names a test that exists, and what it says of
other tools' options is what these tools say; some rows have their test here."""

import ast
import io
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pages import ROOT

from breakscope.__main__ import main

PAGE = (ROOT / "docs" / "linters.md").read_text(encoding="utf-8")
HEAD, _, *ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]
TOOLS = {
    "ruff": ("ruff", "check"),
    "mypy": ("mypy",),
    "flake8": ("flake8",),
    "tlparse": ("tlparse",),
    "breakscope": ("breakscope", "check"),
}
OPTION = re.compile(r"`(--[\w-]+)`")
MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:{comment}
            x = x + 1
        return x.sum().item()
"""


def test_the_table_has_26_rows_with_something_in_each_cell():
    assert len(ROWS) == 26 and all(len(row) == len(HEAD) == 7 and all(row) for row in ROWS)
    assert len({row[0] for row in ROWS}) == 26
    assert all(row[1].partition(",")[0] == "yes" for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_test_that_a_row_names_exists(row):
    file, name = row[2].strip("`").split("::")
    functions = [n for n in ast.parse((ROOT / file).read_text()).body if hasattr(n, "name")]
    (function,) = [node for node in functions if node.name == name]
    marks = " ".join(ast.unparse(mark) for mark in function.decorator_list)
    assert "skip" not in marks and "xfail" not in marks
    assert any(isinstance(node, ast.Assert) for node in ast.walk(function))


@cache
def help_of(tool):
    program = Path(sys.executable).with_name(TOOLS[tool][0])
    if not program.exists():
        return ""
    command = [program, *TOOLS[tool][1:], "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_the_options_that_the_table_names_are_those_of_the_tool(tool):
    if not help_of(tool):
        pytest.skip(f"{tool} is not installed")
    named = {option for row in ROWS for option in OPTION.findall(row[HEAD.index(tool)])}
    assert {option for option in named if option not in help_of(tool)} == set()


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Runs a check of a model with two breaks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL.format(comment=""))
    (tmp_path / "clean.py").write_text("import torch\n")

    def run(*arguments):
        code = main(["check", *arguments])
        return code, capsys.readouterr().out

    return run


def test_exit_codes(check):
    codes = [check(*words)[0] for words in (["clean.py"], ["model.py"], ["none.py"])]
    assert codes == [0, 1, 2]
    assert [check(path, "--exit-zero")[0] for path in ("model.py", "none.py")] == [0, 2]


def test_comments_silence(check, tmp_path):
    found = {}
    for comment in ("  # breakscope: ignore[BRK101] why", "  # noqa: BRK101", "  # noqa"):
        (tmp_path / "model.py").write_text(MODEL.format(comment=comment))
        found[comment] = check("model.py", "-f", "concise")[1].count("BRK")
    assert set(found.values()) == {1}
    whole = "# breakscope: ignore-file[BRK1,BRK2]\n" + MODEL.format(comment="")
    (tmp_path / "model.py").write_text(whole)
    assert check("model.py")[0] == 0


def test_standard_input(check, monkeypatch):
    source = MODEL.format(comment="").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source)))
    code, printed = check("-", "--stdin-filename", "src/other.py", "-f", "concise")
    assert code == 1 and printed.startswith("src/other.py:6:12: BRK101 ")


def test_statistics(check):
    code, printed = check("model.py", "--statistics")
    assert code == 1 and re.search(r"BRK101\b.*\b1\b|\b1\b.*BRK101", printed)


def test_json_follows_its_schema(check):
    schema = json.loads((ROOT / "breakscope" / "report" / "schema.json").read_text())
    document = json.loads(check("model.py", "-f", "json")[1])
    assert len(document["findings"]) == 2
    assert [e.message for e in Draft202012Validator(schema).iter_errors(document)] == []
