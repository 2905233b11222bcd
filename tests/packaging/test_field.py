"""benchmarks/field.py: which half a package belongs to, what is run of it, and how claims are judged."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import field_truth
from field_score import (
    Score,
    ends_there,
    has_code,
    held,
    is_raised_by_the_program,
    score_file,
    scored,
    was_reached,
)
from field_suites import Installed, described_in, wanted_by_tests, without_package
from field_suites import test_folders as folders_with_tests

from breakscope.report.fact import Link
from breakscope.report.model import Finding, Report

MOST_BYTES = 2_000_000  # of the kept truth

SOURCE = """\
def forward(self, x):
    if self.scale:
        return x * x.sum().item()
    else:
        return x.nonzero()
    print(x)
"""


def driver():
    path = ROOT / "benchmarks" / "field_driver" / "drive.py"
    spec = importlib.util.spec_from_file_location("field_drive", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def claim(
    line: int, condition: str = "", confidence: str = "likely", chain: tuple[Link, ...] = ()
) -> Finding:
    return Finding(
        path="m.py",
        line=line,
        column=1,
        end_line=line,
        end_column=2,
        code="BRK201",
        rule="item",
        kind="break",
        severity="error",
        confidence=confidence,
        evidence="predicted",
        function="forward",
        message="a break",
        condition=condition,
        chain=chain,
    )


def test_a_package_keeps_its_half_however_its_name_is_written():
    assert field_truth.half_of("Stable_Baselines3") == field_truth.half_of("stable-baselines3")
    halves = {field_truth.half_of(name) for name in ("a", "b", "c", "d", "e", "f", "g", "h")}
    assert halves == {"learn", "hold"}


@pytest.mark.parametrize("half", field_truth.HALVES)
def test_the_kept_truth_is_small_and_each_package_stands_in_its_own_half(half):
    kept = field_truth.read(half)["models"]
    assert kept and all(field_truth.half_of(name) == half for name in kept)
    assert sum(file.stat().st_size for file in field_truth.KEPT.iterdir()) < MOST_BYTES
    for model in kept.values():
        tops = {file.partition("/")[0] for file in model["traced"]}
        assert model["version"] and model["torch"] and model["python"] and model["date"] and tops


def test_the_truth_is_read_as_it_was_written_in_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(field_truth, "KEPT", tmp_path)
    data = {"models": {"b": {"breaks": [], "traced": {"b/x.py": [[1, 3]]}}, "a": {}}, "meta": {}}
    field_truth.write("learn", data)
    first = (tmp_path / "learn.json.gz").read_bytes()
    field_truth.write("learn", field_truth.read("learn"))
    assert (tmp_path / "learn.json.gz").read_bytes() == first
    assert field_truth.read("learn") == data


def test_what_several_runs_saw_is_joined():
    one = {"breaks": [{"file": "a.py", "line": 4}], "traced": {"a.py": [[1, 4]]}}
    other = {
        "breaks": [{"file": "a.py", "line": 4}],
        "traced": {"a.py": [[4, 6]], "b.py": [[1, 1]]},
    }
    joined = field_truth.together([one, other])
    assert joined["breaks"] == [{"file": "a.py", "line": 4}]
    assert joined["traced"] == {"a.py": [[1, 6]], "b.py": [[1, 1]]}


def test_the_package_is_taken_out_of_its_sources_but_not_its_tests(tmp_path):
    for file in ("src/pkg/model.py", "src/pkg/tests/test_model.py", "tests/unit/test_more.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    without_package(tmp_path, ("pkg",))
    assert not (tmp_path / "src" / "pkg").exists()
    found = folders_with_tests(tmp_path)
    assert {p.relative_to(tmp_path).as_posix() for p in found} == {"pkg_tests_0", "tests"}
    assert (tmp_path / "pkg_tests_0" / "test_model.py").exists()


def test_a_package_of_one_module_is_taken_out_too(tmp_path):
    for file in ("pkg.py", "test_pkg.py"):
        (tmp_path / file).touch()
    without_package(tmp_path, ("pkg.py", "test_pkg.py"))
    assert [path.name for path in tmp_path.iterdir()] == ["test_pkg.py"]


@pytest.mark.parametrize(
    ("metadata", "shown"), [("import one", "import one"), ("UNKNOWN", "import two")]
)
def test_the_description_of_the_sources_where_the_metadata_has_none(metadata, shown, tmp_path):
    (tmp_path / "README.md").write_text("import two")
    package = Installed("p", "1", tmp_path, tmp_path, ("p",), metadata)
    assert described_in(package, tmp_path) == shown


def test_a_block_that_takes_too_long_is_no_exception_that_dynamo_could_report(tmp_path, capsys):
    file = tmp_path / "readme.md"
    block = "import time\nstop = None\ntry:\n    time.sleep(5)\nexcept Exception:\n    stop = 1\n"
    file.write_text(f"```python\n{block}```\n")
    driver().snippets(0.05, 60, [str(file)])
    assert "TooLong: took more than 0.05 s" in capsys.readouterr().out


def test_a_condition_that_encloses_a_traced_line_held_there(tmp_path):
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    assert held("", 3, file)
    assert held("self.scale", 3, file)
    assert held("not self.scale", 5, file)
    assert not held("self.scale", 5, file)
    assert not held("self.other is None", 3, file)


def test_a_claim_is_right_wrong_or_undecided_only_on_traced_lines(tmp_path):
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    claims = [claim(3), claim(5, "not self.scale"), claim(6, "self.verbose"), claim(2)]
    score = Score("p", "1")
    score_file(score, "m.py", file, {3: "GB0124 item", 1: "GB0001 other"}, {1, 3, 5, 6}, claims)
    assert list(score.found) == list(score.right) == [("m.py", 3)]
    assert list(score.missed) == [("m.py", 1)]
    assert list(score.wrong) == [("m.py", 5)]
    assert list(score.undecided) == [("m.py", 6)]


def test_a_claim_for_a_caller_that_was_never_traced_is_undecided(tmp_path):
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    here = claim(3, chain=(Link(path="m.py", line=6, function="other"),))
    assert was_reached(here, tmp_path, {str(file): {3, 6}})
    assert was_reached(here, tmp_path, {})
    assert not was_reached(here, tmp_path, {str(file): {3}})
    score = Score("p", "1")
    score_file(score, "m.py", file, {}, {3}, [], [here])
    assert not score.wrong and list(score.undecided) == [("m.py", 3)]


def test_what_the_program_raises_is_no_graph_break(tmp_path):
    file = tmp_path / "m.py"
    file.write_text(
        "def f(x):\n    if x is None:\n        raise ValueError(\n            'x'\n        )\n    return next(x)\n"
    )
    assert is_raised_by_the_program({"line": 4, "gb_id": "GB0088"}, file)
    assert is_raised_by_the_program({"line": 6, "gb_id": ""}, file)
    assert not is_raised_by_the_program({"line": 6, "gb_id": "GB0088"}, file)
    assert not is_raised_by_the_program({"line": 4, "gb_id": "GB0170"}, file)
    assert is_raised_by_the_program({"line": 6, "gb_id": "GB0354"}, file)
    file.write_text(
        "class F(ValueError):\n    def __init__(self, x):\n        super().__init__(x)\n"
    )
    assert is_raised_by_the_program({"line": 3, "gb_id": "GB0006"}, file)


def test_a_claim_where_the_program_raises_is_neither_right_nor_wrong(tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    breaks = [{"file": "m.py", "line": 3, "gb_id": "GB7312", "gb_type": "arguments"}]
    model = {"version": "1", "breaks": breaks, "traced": {"m.py": [[2, 5]]}}
    report = Report(version="1", torch="2.13.0", findings=(claim(3), claim(5)))
    score = scored("p", model, tmp_path, report)
    assert list(score.wrong) == [("m.py", 5)]
    assert not score.missed


def test_snippets_of_a_description_are_found_in_both_markups():
    blocks = driver().blocks(
        "text\n```python\nimport torch\n```\n```sh\npip\n```\n\n.. code-block:: python\n\n    x = 1\n    y = 2\n\nend\n"
        "```py\n>>> a = 3\n3\n>>> for i in a:\n...     b\n```\n"
    )
    assert [block.split() for block in blocks] == [
        ["import", "torch"],
        ["x", "=", "1", "y", "=", "2"],
        ["a", "=", "3", "for", "i", "in", "a:", "b"],
    ]


def test_tests_that_were_not_reached_come_first_and_each_function_before_its_repeats(tmp_path):
    class Item:
        def __init__(self, file: str, name: str) -> None:
            self.path, self.nodeid = tmp_path / file, f"{file}::{name}"
            self.path.write_text("" if file == "d.py" else "import torch")

    results = tmp_path / "results.txt"
    results.write_text("passed b.py::test_z\n")
    items = [Item("a.py", "test_x[0]"), Item("a.py", "test_x[1]"), Item("a.py", "test_y")]
    items += [Item("d.py", "test_v"), Item("b.py", "test_z"), Item("c.py", "test_w")]
    driver().BreadthFirst(results, 1).pytest_collection_modifyitems(items)
    order = [item.nodeid for item in items]
    assert order == [
        "a.py::test_x[0]",
        "c.py::test_w",
        "a.py::test_y",
        "a.py::test_x[1]",
        "d.py::test_v",
        "b.py::test_z",
    ]


@pytest.mark.parametrize(("seconds", "stopped"), [(0, True), (60, False)])
def test_a_suite_is_stopped_between_tests_when_its_time_is_over(seconds, stopped, tmp_path):
    class Session:
        shouldstop = ""

    plugin = driver().BreadthFirst(tmp_path / "results.txt", seconds)
    plugin.pytest_sessionstart(session := Session())
    plugin.pytest_runtestloop()
    plugin.pytest_runtest_logfinish()
    assert bool(session.shouldstop) == stopped


def test_a_site_on_a_line_without_code_is_an_error_of_the_line_number(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("x = 1\n\n# y\n    z = 2  # w\n")
    assert [has_code({"line": n}, file) for n in (1, 2, 3, 4, 5)] == [1, 0, 0, 1, 0]


def test_what_tests_want_is_read_from_groups_and_requirements(tmp_path):
    (tmp_path / "requirements-test.txt").write_text("scipy>=1  # why\n-e .\n./here\n\n")
    assert wanted_by_tests(tmp_path) == ["scipy>=1"]
    (tmp_path / "pyproject.toml").write_text(
        '[dependency-groups]\ndev = ["ruff"]\ntest = ["pandas", {include-group = "dev"}]\n'
    )
    assert wanted_by_tests(tmp_path) == ["pandas"]


@pytest.mark.parametrize(
    ("line", "words", "ran", "ends"),
    [
        (3, "GB4315 an operation refused", {2, 3}, True),
        (2, "GB0088 Observed exception", {2}, True),
        (3, "GB0088 Observed exception", {2, 3}, False),  # Dynamo may be the only one that raises
        (3, "GB4315 an operation refused", {2, 3, 4}, False),  # another run came further
        (3, "GB0124 Tensor.item()", {2, 3}, False),
        (5, "GB4315 an operation refused", {2, 3, 4, 5}, False),  # in a loop
        (6, "GB4315 an operation refused", {2, 3, 4, 5, 6}, False),  # nothing follows
    ],
)
def test_a_program_ends_where_nothing_after_an_exception_was_traced(
    line, words, ran, ends, tmp_path
):
    file = tmp_path / "m.py"
    file.write_text(
        "def f(x, y):\n    a, b = x.shape\n    x = x @ y\n    for z in x:\n        y = z @ y\n    return y @ x\n"
    )
    assert ends_there(line, words, file, ran) is ends


MODULES = """\
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    hidden_dim: int = 512
    n_heads: int = 4


class Block(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.layer = nn.Linear(settings.hidden_dim, settings.hidden_dim)

    def forward(self, x, mask=None):
        return self.layer(x)


class Embedding(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, dim)

    def forward(self, token_ids):
        return self.table(token_ids)


class Named(nn.Module):
    def __init__(self, model_name: str):
        super().__init__()

    def forward(self, x):
        return x
"""


def test_modules_are_made_from_what_their_parameters_are_called_and_called(tmp_path):
    (tmp_path / "parts.py").write_text(MODULES)
    command = [sys.executable, str(ROOT / "benchmarks" / "field_driver" / "build.py")]
    plans = tmp_path / "plans.json"

    def said(*arguments):
        done = subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said("find", "60", "300", str(plans), "parts") == (
        "2 of 3 modules can be made and called\n"
    )
    found = {plan["made"]: plan for plan in json.loads(plans.read_text())}
    assert set(found) == {"parts:Block", "parts:Embedding"}
    settings = found["parts:Block"]["with"]["settings"]
    assert settings == {"made": "parts:Settings", "with": {"hidden_dim": 8}}
    assert found["parts:Embedding"]["calls"][0] == [True, [{"tensor": [2, 4], "below": 32}]]
    assert said("call", "60", "300", str(plans)) == "2 modules, 0 failed\n"
