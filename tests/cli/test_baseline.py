"""A baseline: what was known is no news, whatever line or file it stands in."""

import json

import pytest
from command import BREAKS, runner

FILE = "breakscope-baseline.json"
MORE = BREAKS.replace("return x.sum()", "print(x)\n        return x.sum()")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(BREAKS)
    return runner(capsys)


def stored(path=FILE):
    with open(path) as file:
        return json.load(file)


def codes(done):
    return [line.split()[1] for line in done.out.splitlines() if line.startswith("model")]


def test_only_news_fail(run, tmp_path):
    written = run("check", ".", "--write-baseline")
    assert written.code == 0 and f"wrote 2 findings to the baseline {FILE}" in written.out
    assert [entry["code"] for entry in stored()["findings"]] == ["BRK101", "BRK201"]
    again = run("check", ".", "--baseline", FILE)
    assert (again.code, again.out) == (
        0,
        "no new breaks in 1 region of 1 file. 2 in the baseline.\n",
    )
    (tmp_path / "model.py").write_text(MORE)
    news = run("check", ".", "--baseline", FILE, "-f", "concise")
    assert (news.code, codes(news)) == (1, ["BRK401"])


def test_moved_lines_and_renamed_files_and_functions_are_no_news(run, tmp_path):
    run("check", ".", "--write-baseline")
    moved = "# a comment\nimport os\n" + BREAKS.replace("x.sum() > 0:", "x.sum()  >  0:  # why")
    (tmp_path / "model.py").unlink()
    (tmp_path / "model_of_ours.py").write_text(moved)
    done = run("check", ".", "--baseline", FILE)
    assert done.code == 0 and "2 in the baseline" in done.out and "stale" not in done.out


def test_a_copy_in_another_file_is_news(run, tmp_path):
    run("check", ".", "--write-baseline")
    (tmp_path / "model2.py").write_text(BREAKS)
    assert len(codes(run("check", ".", "--baseline", FILE, "-f", "concise"))) == 2
    # also when the file that is known is not checked
    assert len(codes(run("check", "model2.py", "--baseline", FILE, "-f", "concise"))) == 2


def test_what_is_found_no_more_is_stale_and_pruned(run, tmp_path):
    (tmp_path / "other.py").write_text(MORE)
    run("check", ".", "--write-baseline")
    (tmp_path / "model.py").write_text(BREAKS.replace(".item()", ""))
    done = run("check", "model.py", "--baseline", FILE)
    assert done.code == 0 and done.out.count("stale in the baseline: ") == 1
    assert "model.py: BRK201 in `Model.forward` is found no more" in done.out
    assert "stale" not in run("check", "other.py", "--baseline", FILE).out
    assert "stale" not in run("check", ".", "--baseline", FILE, "--select", "BRK1").out
    run("check", "model.py", "--write-baseline")
    left = [(entry["path"], entry["code"]) for entry in stored()["findings"]]
    assert left == [
        ("model.py", "BRK101"),
        ("other.py", "BRK101"),
        ("other.py", "BRK401"),
        ("other.py", "BRK201"),
    ]


def test_a_file_that_cannot_be_read_prunes_nothing(run, tmp_path):
    run("check", ".", "--write-baseline")
    (tmp_path / "model.py").write_text("import torch\ndef forward(:\n")
    done = run("check", ".", "--write-baseline")
    assert done.code == 2 and "stale" not in done.out and len(stored()["findings"]) == 2


def test_the_configuration_names_a_baseline(run, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[tool.breakscope]\nbaseline = "known.json"\n')
    assert "the baseline: no such file" in run("check", ".").err
    run("check", ".", "--write-baseline")
    assert run("check", ".").code == 0  # without an option there is no click
    assert run("check", ".", "--no-baseline").code == 1
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert run("check", "..").code == 0


def test_a_baseline_has_an_entry_a_line(run):
    run("check", ".", "--write-baseline", "known.json")
    with open("known.json") as file:
        lines = file.read().splitlines()
    assert sum('"code"' in line for line in lines) == len(stored("known.json")["findings"]) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no baseline: "),
        ('{"schema": "9"}', "its schema is '9'"),
        ('{"findings": [{}]}', "is no baseline: "),
    ],
)
def test_a_file_that_is_no_baseline(run, tmp_path, text, said):
    (tmp_path / FILE).write_text(text)
    done = run("check", ".", "--baseline", FILE)
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1


VARYING = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, n):
        return x.sum().item() + n


def make():
    return Model(), (torch.ones(4), 1.0), {}


def calls():
    return [(torch.ones(4), 1.0), (torch.ones(4), 2.0)]
"""


def test_runs_have_a_budget(run, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "model.py").write_text(VARYING)
    target = ("run", "model.py::make", "--no-vary", "--no-backward")
    assert run(*target, "--write-baseline").code == 0
    (known,) = stored()["runs"]
    assert known["target"] == "model.py::make" and known["breaks"] == 1
    assert run(*target, "--baseline", FILE).code == 0
    text = (tmp_path / FILE).read_text().replace('"recompiles": 0', '"recompiles": 9')
    text = text.replace('"breaks": 1', '"breaks": 0')
    (tmp_path / FILE).write_text(text)
    done = run(*target, "--baseline", FILE)
    assert done.code == 1 and "over budget: 1 break, 0 in the baseline" in done.out
    worse = run(*target, "--calls", "calls", "--baseline", FILE, "-f", "json")
    report = json.loads(worse.out)
    assert report["baseline"]["known"]
    assert {b["name"] for b in report["baseline"]["budgets"]} >= {
        "baseline-breaks",
        "baseline-recompiles",
        "baseline-skipped-frames",
    }
