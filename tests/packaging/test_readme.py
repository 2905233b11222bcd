"""The commands that the README, CI and the hooks name are the ones that exist."""

import re
from pathlib import Path

import yaml

from breakscope import __version__
from breakscope.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_readmes_test_command():
    line = next(line for line in (ROOT / ".ci" / "run").read_text().splitlines() if "pytest" in line)
    assert line in README


def test_both_readme_commands_use_the_pins_and_torch_is_among_them():
    commands = [line for line in README.splitlines() if "pip install" in line and "venv" in line]
    assert len(commands) == 2 and all("-c constraints.txt" in command for command in commands)
    assert "torch==2.13.0\n" in (ROOT / "constraints.txt").read_text()


def test_the_hook_is_a_command_that_exists(capsys):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"], hook["types"]) == ("breakscope", "python", ["python"])
    assert hook["entry"] == "breakscope check"


def test_files_that_the_readme_names_exist():
    for name in re.findall(r"`((?:samples|rules|tests|benchmarks|breakscope)/[\w./-]*)`", README):
        assert (ROOT / name).exists(), name


def test_the_example_is_what_the_command_prints(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    command, shown = re.search(r"```\n\$ breakscope (.*)\n((?:.*\n)*?)```\n", README).groups()
    main(command.split())
    assert capsys.readouterr().out == shown, "paste the command's output into README.md"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"breakscope {__version__}\n"
