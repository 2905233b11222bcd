"""breakscope run, and check --run: one report from both analyzers."""

import json

import pytest
from command import runner

from breakscope import limits
from breakscope.__main__ import main
from breakscope.report.model import Report, from_json

pytest.importorskip("torch")

# Line 9 breaks (predicted and seen), line 12 is not reached, line 16 breaks in a way that only a
# run knows.
PROGRAM = """\
import torch

HOOKS = {"show": print}


class Model(torch.nn.Module):
    def forward(self, x):
        print("the program's own words")
        if x.sum() > 1000:
            x = x * 2
        if self.training and x.dim() == 3:
            x = x + x.max().item()
        return self.late(x)

    def late(self, x):
        HOOKS["sh" + "ow"](x.shape)
        return x + 1


def make():
    return Model(), (torch.ones(4),), {}


def fails():
    raise ValueError("no weights")
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "program.py").write_text(PROGRAM)
    return runner(capsys)


def test_check_with_a_run_is_one_report(run, tmp_path):
    (tmp_path / "other.py").write_text(
        PROGRAM.replace("class Model", "class Other").partition("def make")[0]
    )
    done = run(
        "check",
        ".",
        "--run",
        "program.py::make",
        "--no-vary",
        "--format",
        "json",
        "--device",
        "cpu",
    )
    report = from_json(done.out.encode())  # the program's own words are not in between
    assert done.code == 1 and report.errors == ()
    breaks = {(f.path, f.line): f.evidence for f in report.findings if f.kind == "break"}
    assert breaks["program.py", 8] == breaks["program.py", 9] == "confirmed"
    assert breaks["program.py", 12] == "predicted"
    assert breaks["program.py", 16] in ("observed", "confirmed")
    assert breaks["other.py", 9] == "predicted"
    assert report.missed == sum(evidence == "observed" for evidence in breaks.values())
    assert report.run is not None and report.run.capture_checked and report.files == 2


def test_a_target_that_fails_keeps_what_source_analysis_found(run):
    done = run("check", "program.py", "--run", "program.py::fails", "--format", "json")
    report = json.loads(done.out)
    assert done.code == 2
    assert {f["line"] for f in report["findings"]} >= {8, 9}
    assert any("no weights" in error["message"] + error["detail"] for error in report["errors"])


def test_what_only_the_run_saw_is_told_in_our_words(run, tmp_path):
    """The source does not show which model the factory makes: the break stays observed, and missed,
    with our words and fix."""
    (tmp_path / "kept.py").write_text("import gate\n\nclass Model(gate.Base):\n    pass\n")
    (tmp_path / "gate.py").write_text(
        "import torch\n\nclass Base(torch.nn.Module):\n    def forward(self, x):\n"
        "        if x.mean() > 0:\n            x = x * 2\n        return x\n"
    )
    (tmp_path / "hidden.py").write_text(
        "import importlib\nimport os\nimport sys\nimport torch\nsys.path.insert(0, os.path.dirname(__file__))\n\ndef make():\n"
        "    module = importlib.import_module(open(__file__.replace('hidden.py', 'name')).read())\n"
        "    return getattr(module, 'Model')(), (torch.ones(3),), {}\n"
    )
    (tmp_path / "name").write_text("kept")
    report = from_json(run("run", "hidden.py::make", "--no-vary", "--format", "json").out)
    (found,) = [finding for finding in report.findings if finding.kind == "break"]
    assert (found.path, found.line, found.code, found.evidence, report.missed) == (
        "gate.py",
        5,
        "BRK101",
        "observed",
        1,
    )
    assert (
        found.message.startswith("`if x.mean() > 0` reads")
        and found.fix is not None
        and found.dynamo == ("GB0170",)
    )


def test_run_hides_what_is_not_selected(run):
    done = run(
        "run",
        "program.py::make",
        "--no-vary",
        "--no-backward",
        "--select",
        "BRK1",
        "--format",
        "json",
        "--device",
        "cpu",
    )
    report = json.loads(done.out)
    assert {f["code"] for f in report["findings"]} == {"BRK101"}
    assert report["hidden"] >= 2 and report["run"]["backward"] is False


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("8G", 8 << 30), ("500M", 500 << 20), ("1.5 GiB", 3 << 29), ("7", 7)],
)
def test_memory_is_a_size(monkeypatch, text, size):
    asked = []
    monkeypatch.setattr(
        "breakscope.workflows.run.run",
        lambda options: asked.append(options) or Report(version="", torch=""),
    )
    assert main(["run", "program.py::make", "--memory", text]) == 0
    assert asked[0].memory == size


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], (0, False, None)),
        (["--peel"], (12, False, None)),
        (["--peel", "--peel-rounds", "3"], (3, False, None)),
        (["--radar", "--batch-dim", "1"], (0, True, 1)),
    ],
)
def test_peel_and_radar_are_asked_for(monkeypatch, given, wanted):
    asked = []
    monkeypatch.setattr(
        "breakscope.workflows.run.run",
        lambda options: asked.append(options) or Report(version="", torch=""),
    )
    assert main(["run", "program.py::make", *given]) == 0
    assert (asked[0].peel, asked[0].radar, asked[0].batch_dim) == wanted


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "Missing argument 'FILE::NAME'"),
        (["run", "program.py"], "'program.py' is no target; write FILE::NAME"),
        (["run", "absent.py::make"], "absent.py"),
        (["run", "program.py::make", "--timeout", "0"], "--timeout"),
        (["run", "program.py::make", "--peel", "--peel-rounds", "0"], "--peel-rounds"),
        (
            ["run", "program.py::make", "--peel-rounds", "3"],
            "--peel-rounds says nothing without --peel",
        ),
        (
            ["run", "program.py::make", "--batch-dim", "1"],
            "--batch-dim says nothing without --radar",
        ),
        (["run", "program.py::make", "--radar", "--sequence-dim", "-1"], "--sequence-dim"),
        (
            ["run", "program.py::make", "--memory", "8 gigs"],
            "'8 gigs' is no size; write one such as 8G or 500M",
        ),
        (["run", "program.py::make", "--select", "BRK1O1"], "'BRK1O1'; did you mean BRK101"),
    ],
)
def test_wrong_use_is_one_line(run, arguments, said):
    done = run(*arguments)
    assert done.code == 2 and done.out == ""
    assert (
        done.err.startswith("breakscope: error: ")
        and done.err.count("\n") == 1
        and said in done.err
    )


SILENCED = """\
import torch


class M(torch.nn.Module):
    def forward(self, x):
        y = x.sum().item()  # breakscope: ignore[BRK201] once
        return x.mean().item() * y  # breakscope: ignore[BRK201, BRK4]


def make():
    return M(), (torch.ones(4),), {}
"""


def test_a_comment_silences_what_a_run_sees(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "silenced.py").write_text(SILENCED)
    done = runner(capsys)("check", "silenced.py", "--run", "silenced.py::make", "-f", "json")
    report = json.loads(done.out)
    assert [f["code"] for f in report["findings"]] == ["BRK001"]
    assert (report["hidden"], report["missed"], done.code) == (2, 0, 1)


def test_budgets_decide_and_the_phases_are_said(run, tmp_path, monkeypatch):
    """Without a terminal a phase is a line where some time went by since the last."""
    monkeypatch.setattr(limits, "SECONDS_BETWEEN_LINES", 0.0)
    done = run(
        "run", "program.py::make", "--max-breaks", "9", "--max-recompiles-after", "3", "--peel"
    )
    assert done.code == 0 and "budget kept: " in done.out
    said = [line for line in done.err.splitlines() if line.startswith("breakscope: ")]
    assert any(line.startswith("breakscope: run: ") for line in said)
    assert any(line.startswith("breakscope: peel, run 1 of 12 at most, ") for line in said)
    assert said[-1].startswith("breakscope: source analysis, ")
    done = run("run", "program.py::make", "--max-breaks", "0", "-f", "json")
    (budget,) = json.loads(done.out)["budgets"]
    assert (done.code, budget["kept"], budget["limit"]) == (1, False, 0)
