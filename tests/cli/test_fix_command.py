"""breakscope fix: what is written, shown and answered; proofs by real runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import BREAKS, CLEAN, runner

from breakscope.report.model import from_json

PRINTS = """\
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        print("norm", x.norm())  # kept
        return x * 2
"""
# a rule whose fix gives other results
RULE = '''
"""`mmap.mmap` is not traced.

Why.
"""
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK991", "mine", fix="unsafe")


@rule.on(Call, "mmap.mmap")
def check(event):
    yield event.graph_break("`mmap.mmap` is not traced")


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    return cst.parse_statement("x = x * 2")
'''


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prints.py").write_text(PRINTS)
    (tmp_path / "breaks.py").write_text(BREAKS)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def fixes(done):
    return json.loads(done.out)["fixes"]


def test_a_fix_is_written_and_the_rest_reported(folder, run):
    done = run("fix", "prints.py", "--unsafe-fixes")
    assert done.code == 0 and "prints.py:6: BRK401 fixed: `print(" in done.out
    assert "Fixed 1 place in 1 file: BRK401. no breaks" in done.out
    text = (folder / "prints.py").read_text()
    assert text.startswith("import torch\nfrom torch import nn\n") and "# kept" in text
    again = run("fix", "prints.py", "--unsafe-fixes")
    assert again.code == 0 and again.out.startswith("Nothing to fix. no breaks")
    assert (folder / "prints.py").read_text() == text


def test_what_may_change_a_program_is_left_without_unsafe_fixes(folder, run):
    done = run("fix", "breaks.py")
    assert done.code == 1 and (folder / "breaks.py").read_text() == BREAKS
    assert "not fixed: its fix may change what the program does (--unsafe-fixes)" in done.out


def test_check_fix_is_fix(folder, run):
    one = run("fix", "breaks.py", "--unsafe-fixes", "--diff")
    two = run("check", "--fix", "breaks.py", "--unsafe-fixes", "--diff")
    assert one == two and one.code == 1


def test_a_diff_is_shown_and_nothing_written(folder, run):
    done = run("fix", "breaks.py", "prints.py", "clean.py", "--unsafe-fixes", "--diff")
    assert (folder / "breaks.py").read_text() == BREAKS and done.code == 1
    (folder / "given.diff").write_text(done.out)
    subprocess.run(
        ["patch", "-p0", "-i", "given.diff"], cwd=folder, check=True, capture_output=True
    )
    assert run("fix", "breaks.py", "prints.py", "--unsafe-fixes", "--diff").out == ""
    assert done.err.startswith("Would fix ")


def test_without_a_difference_the_answer_is_0(folder, run):
    done = run("fix", "clean.py", "--diff")
    assert (done.code, done.out, done.err) == (0, "", "Nothing to fix.\n")


def test_codes_are_selected(folder, run):
    done = run("fix", "breaks.py", "--unsafe-fixes", "--select", "BRK4", "--format", "json")
    assert fixes(done)["fixed"] == [] and done.code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fix",), "nothing to check; name files or folders"),
        (("fix", "none.py"), "no such file or folder: none.py"),
        (
            ("check", "clean.py", "--unsafe-fixes"),
            "--unsafe-fixes says nothing without --fix or --diff",
        ),
        (
            ("check", "clean.py", "--verify", "a.py::f"),
            "--verify says nothing without --fix or --diff",
        ),
        (("check", "clean.py", "--fix", "--run", "a.py::f"), "--run cannot go with --fix"),
        (("fix", "prints.py", "--unsafe-fixes", "--verify", "a.py"), "'a.py' is no target"),
        (
            ("fix", "prints.py", "--unsafe-fixes", "--verify", "a.py::f"),
            "no such file or folder: a.py",
        ),
    ],
)
def test_wrong_use_is_one_line(folder, run, arguments, message):
    done = run(*arguments)
    assert done.code == 2 and done.err.count("\n") == 1 and message in done.err
    assert (folder / "prints.py").read_text() == PRINTS


def test_a_file_that_cannot_be_written_is_an_error(folder, run, monkeypatch):
    import breakscope.workflows.fix as workflow
    from breakscope.errors import UserError

    def refuse(path, *_):
        raise UserError(f"cannot write {Path(path).name}: No space left on device")

    monkeypatch.setattr(workflow, "replace_file", refuse)
    done = run("fix", "prints.py", "--unsafe-fixes")
    assert done.code == 2 and "error: cannot write prints.py" in done.out


def test_uncommitted_changes_are_said(folder, run):
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, capture_output=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "add", "prints.py"], cwd=folder, check=True)
    subprocess.run(["git", *who, "commit", "-qm", "1"], cwd=folder, check=True)
    assert fixes(run("fix", "prints.py", "--unsafe-fixes", "--diff", "-f", "json"))["notes"] == []
    (folder / "prints.py").write_text(PRINTS + "\n# more\n")
    found = fixes(run("fix", "prints.py", "--unsafe-fixes", "--diff", "-f", "json"))["notes"]
    assert found == ["prints.py had changes that are not committed"]


TARGET = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        print("norm", x.norm())
        y = self.layer(x)
        if y.sum() > 0:
            y = y * 2
        return y


class Other(nn.Module):
    def forward(self, x):
        print("here")
        return x


def make():
    return Model(), (torch.ones(2, 4),), {}
"""


def test_a_proof_keeps_what_passes(folder, run):
    (folder / "model.py").write_text(TARGET)
    done = run("fix", "model.py", "--unsafe-fixes", "--verify", "model.py::make", "-f", "json")
    report = from_json(done.out.encode())
    assert sorted(place.code for place in report.fixes.fixed) == ["BRK101", "BRK401"]
    (left,) = report.fixes.not_fixed
    assert left.taken_back and "the target does not run it" in left.reason
    (proof,) = report.fixes.proofs
    assert (proof.before.breaks, proof.after.breaks, proof.source) == (2, 0, "target")
    by_name = {compared.what: compared.status for compared in proof.compared}
    assert {by_name[n] for n in ("outputs", "gradients", "printed", "random stream")} == {"equal"}
    assert by_name["printed when compiled"] == "fewer"
    assert "torch.where" in (folder / "model.py").read_text()
    assert 'print("here")' in (folder / "model.py").read_text()


def test_a_proof_takes_back_what_does_not(folder, run):
    (folder / "rules").mkdir()
    (folder / "rules" / "brk991_mine.py").write_text(RULE)
    (folder / "pyproject.toml").write_text('[tool.breakscope]\nrules = ["rules/"]\n')
    (folder / "model.py").write_text(
        "import mmap\nimport torch\n\n\ndef f(x):\n    if x.sum() > 0:\n        x = x * 2\n"
        "    mmap.mmap(-1, 8)\n    return x\n\n\ndef make():\n    return f, (torch.ones(3),), {}\n"
    )
    target = (
        "--verify",
        "model.py::make",
        "--entry",
        "model.py::make",
        "--select",
        "BRK991,BRK101",
    )
    done = run("fix", "model.py", "--unsafe-fixes", *target, "--allow-rules", "-f", "json")
    found = fixes(done)
    assert [place["code"] for place in found["fixed"]] == ["BRK101"]
    (back,) = found["not_fixed"]
    assert (back["code"], back["taken_back"]) == ("BRK991", True)
    # what is compared first depends on which calls the original can be given
    assert back["reason"].partition(":")[0] in ("outputs", "exceptions")
    text = (folder / "model.py").read_text()
    assert "torch.where" in text and "mmap.mmap(-1, 8)" in text
    assert done.code == 1


def test_a_target_that_does_not_run_changes_nothing(folder, run):
    (folder / "model.py").write_text(
        TARGET.replace("return Model()", "raise KeyError(1)\n    return Model()")
    )
    text = (folder / "model.py").read_text()
    done = run("fix", "model.py", "--unsafe-fixes", "--verify", "model.py::make")
    assert done.code == 2 and "model.py::make does not run as it is" in done.out
    assert (folder / "model.py").read_text() == text


ENTRY = ("--entry", "model.py::make")


@pytest.mark.nightly
def test_weights_made_at_the_top_of_the_file_are_the_same_in_both_forms(folder, run):
    (folder / "model.py").write_text(
        "import torch\n\nnet = torch.nn.Linear(3, 3)\n\n\ndef step(x):\n    y = net(x)\n"
        '    print("mean", y.mean())\n    return y\n\n\ndef make():\n    return step, (torch.ones(2, 3),), {}\n'
    )
    run("fix", "model.py", "--unsafe-fixes", *ENTRY, "--verify", "model.py::make")
    assert "is_compiling" in (folder / "model.py").read_text()


def test_a_target_that_raises_in_every_call_proves_nothing(folder, run):
    text = (
        "import torch\n\n\ndef f(x):\n    if x.sum() > 0:\n        x = x * 2\n    return x.unsqueeze(9)\n\n\n"
        "def make():\n    return f, (torch.ones(3),), {}\n"
    )
    (folder / "model.py").write_text(text)
    done = run("fix", "model.py", "--unsafe-fixes", *ENTRY, "--verify", "model.py::make")
    assert done.code == 2 and "model.py::make does not run as it is" in done.out
    assert (folder / "model.py").read_text() == text


@pytest.mark.nightly
def test_a_run_previews_what_it_would_prove(folder):
    (folder / "model.py").write_text(TARGET)
    command = [sys.executable, "-P", "-m", "breakscope", "run", "model.py::make", "--fix-preview"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "+        y = torch.where(" in done.stdout and "proof: model.py::make" in done.stdout
    assert (folder / "model.py").read_text() == TARGET
