"""The README: its first commands are those of CI, and what it names and shows exists."""

import re
import sys

import pages
import yaml
from pages import ROOT

from breakscope import __version__
from breakscope.__main__ import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 200


def test_it_is_short():
    assert len(README.splitlines()) <= MOST_LINES


def test_ci_runs_the_test_command():
    line = next(
        line for line in (ROOT / ".ci" / "run").read_text().splitlines() if "pytest" in line
    )
    assert line in README


def test_both_first_commands_use_the_pins_and_torch_is_among_them():
    commands = [line for line in README.splitlines() if "pip install" in line and "venv" in line]
    assert len(commands) == 2 and all("-c constraints.txt" in command for command in commands)
    assert "torch==2.13.0\n" in (ROOT / "constraints.txt").read_text()


def test_the_hook_is_a_command_that_exists():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"], hook["types"]) == ("breakscope", "python", ["python"])
    assert hook["entry"] == "breakscope check"
    (shown,) = [block.text for block in pages.blocks("yaml") if "hooks:" in block.text]
    assert [each["id"] for each in yaml.safe_load(shown)[0]["hooks"]] == [hook["id"]]


def test_what_it_says_of_the_samples_is_what_the_benchmark_prints(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import accuracy

    (command,) = re.findall(r"`python benchmarks/accuracy\.py (--corpus samples .*?)`", README)
    monkeypatch.setattr(sys, "argv", ["accuracy.py", *command.split()])
    accuracy.main()
    row = next(line for line in capsys.readouterr().out.splitlines() if "small programs" in line)
    sites, claims, false = (re.search(r"\d+/\d+", row.split("|")[at])[0] for at in (2, 3, 5))
    line = next(line for line in README.splitlines() if command in line)
    for figure in (sites, claims, false):
        assert figure.replace("/", " of ") in line, row


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"breakscope {__version__}\n"
