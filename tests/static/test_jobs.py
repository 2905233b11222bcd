"""Several processes give the answers that one gives."""

import os

import pytest
from programs import TORCH, write

from breakscope import limits
from breakscope.report.model import ReportError
from breakscope.rulekit.loader import RuleError
from breakscope.static import StaticOptions, analyze
from breakscope.static.answer import Answer
from breakscope.static.jobs import answers, parts_of

MODEL = """\
import torch
from helper import read

class M{0}(torch.nn.Module):
    def forward(self, x):
        return x * read(x) + {0}
"""


@pytest.fixture
def eager(monkeypatch):
    """Starts a process for any file."""
    monkeypatch.setattr(limits, "FEWEST_BYTES_OF_A_PROCESS", 1)


@pytest.fixture
def project(tmp_path):
    files = {f"part{i}/model{i}.py": MODEL.format(i) for i in range(5)}
    files |= {"helper.py": "def read(x):\n    return x.item()\n", "broken.py": "def"}
    write(tmp_path, {"pyproject.toml": "", **files})
    return tmp_path


def test_the_report_is_the_same(project, eager):
    one, three = (analyze([project], StaticOptions(torch=TORCH), jobs) for jobs in (1, 3))
    assert one == three
    assert [error.path.endswith("broken.py") for error in one.errors] == [True]
    assert one.findings and one.files == 7


def test_an_entry_that_names_nothing_is_told_once(project, eager):
    options = StaticOptions(torch=TORCH, entries=("*::M1", "*::Nothing"))
    result = analyze([project / "part1", project / "part2"], options, 2)
    assert [error.message for error in result.errors] == [
        "--entry *::Nothing names no function, class, method or object that was checked"
    ]


def test_what_a_killed_process_left_is_done_here(tmp_path, eager):
    files = [str(tmp_path / name / "m.py") for name in "abcd"]
    for path in files:
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as file:
            file.write("pass")
    home = os.getpid()

    def analysis(files):
        for path in files:
            if os.getpid() != home and path == files[-1]:
                os._exit(9)
            yield Answer(errors=(ReportError(message="seen", path=path),))

    seen = [answer.errors[0].path for answer in answers(files, analysis, 2)]
    assert sorted(seen) == files


def test_a_wrong_rule_is_an_error_here_too(project, tmp_path, eager):
    rules = tmp_path / "own_rules"
    write(rules, {"mine.py": "rules = 1/0\n"})
    options = StaticOptions(torch=TORCH, extra_rules=(str(rules),))
    with pytest.raises(RuleError) as one:
        analyze([project], options)
    with pytest.raises(RuleError) as two:
        analyze([project], options, 2)
    assert str(one.value) == str(two.value)


def test_a_folder_stays_together_and_few_files_are_one_part(project, monkeypatch):
    files = sorted(str(path) for path in project.rglob("*.py"))
    assert parts_of(files, 8) == [files]
    monkeypatch.setattr(limits, "FEWEST_BYTES_OF_A_PROCESS", 1)
    parts = parts_of(files, 3)
    assert len(parts) == 3 and sorted(path for part in parts for path in part) == files
    homes = [{os.path.dirname(path) for path in part} for part in parts]
    assert sum(map(len, homes)) == len(set().union(*homes))


def test_nothing_is_no_part():
    assert list(answers([], lambda files: iter(()), 4)) == []
