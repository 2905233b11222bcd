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


HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
SHOWN = [yaml.safe_load(block.text) for block in pages.blocks("yaml") if "hooks:" in block.text]


def test_the_hooks_are_commands_that_exist():
    entries = {hook["id"]: hook["entry"] for hook in HOOKS}
    assert entries == {"breakscope": "breakscope check", "breakscope-fix": "breakscope fix"}
    assert all(
        hook["language"] == "python" and hook["types_or"] == ["python", "jupyter"] for hook in HOOKS
    )


def test_the_hooks_that_are_shown_exist():
    assert len(SHOWN) == 2  # in the README and on the page of CI
    named = {each["id"] for (repository,) in SHOWN for each in repository["hooks"]}
    assert named == {hook["id"] for hook in HOOKS}


def test_the_changes_name_this_version():
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0].rstrip(",") == __version__


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
