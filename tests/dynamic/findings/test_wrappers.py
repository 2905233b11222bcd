"""Recompiles and breaks of what torch or a package wraps around the user's module, in the words of
the one who calls it."""

import dataclasses
import os
import subprocess
import sys

import pytest
from import_path import PYTHONPATH

from breakscope.dynamic.findings.recompile_advice import OF_A_PACKAGE, ONE, PASSED_ALIKE, advice_on
from breakscope.dynamic.findings.wording import cause
from breakscope.dynamic.observations.facts import FrameCompile, RecompileSeen
from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.observations.guards.passed import calls_it, passed_name
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.trace.frames import Frame
from breakscope.report.model import Report, from_json

WRAPPER = "def wrapper(self, *args, **kwargs):\n    return self.inner(*args, **kwargs)\n"
SIZE = "tensor '{}' size mismatch at index {}. expected 8, actual 5"


@pytest.fixture
def frame(tmp_path):
    file = tmp_path / "lib" / "site-packages" / "models" / "generic.py"
    file.parent.mkdir(parents=True)
    file.write_text(WRAPPER)
    return FrameCompile("0/1", "wrapper", str(file), 1)


def seen(frame, text):
    guard = read_guard(text)
    guard = dataclasses.replace(guard, name=passed_name(guard.name, frame))
    return RecompileSeen(frame, guard, None)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kwargs['mask']", "mask"),
        ("kwargs['cache'].layers[0].keys", "cache.layers[0].keys"),
        ("args[1]", "argument 2"),
        ("args[0].size", "argument 1.size"),
        ("kwargs", "keyword arguments"),
        ("self.inner", "self.inner"),
        ("kwargs['a b']", "kwargs['a b']"),
    ],
)
def test_names(frame, name, words):
    assert passed_name(name, frame) == words


def test_the_users_own_names_stay(frame, tmp_path):
    own = tmp_path / "own.py"
    own.write_text(WRAPPER)
    assert passed_name("args[0]", dataclasses.replace(frame, path=str(own))) == "args[0]"
    assert passed_name("args[0]", dataclasses.replace(frame, resumed_at=2)) == "args[0]"


def test_advice_that_the_caller_can_follow(frame):
    """What a package passes on cannot be marked, padded there or given in another way by the
    user."""
    inside = dataclasses.replace(
        frame, stack=(Frame("/a/train.py", 3, "<module>"), Frame(frame.path, 9, "generate"))
    )
    own = dataclasses.replace(frame, stack=(Frame("/a/train.py", 3, "<module>"),))
    places = Places.here("")
    assert calls_it(own, places) and not calls_it(inside, places)

    first = seen(inside, SIZE.format("kwargs['ids']", 0))
    advice = advice_on([first], frozenset())
    assert "drop_last" in advice and "mark_dynamic" not in advice
    later = advice_on([seen(inside, SIZE.format("kwargs['ids']", 1))], frozenset())
    assert "multiple" in later and "drop_last" not in later
    assert "fixed" in advice_on([seen(inside, SIZE.format("kwargs['cache'].keys", 2))], frozenset())
    assert advice_on([seen(inside, "tensor 'kwargs['ids']' size mismatch at index 0. expected 8, actual 1")], frozenset()) == ONE  # fmt: skip
    assert "mark_dynamic(tensor, 0)` of argument 1" in advice_on(
        [seen(own, SIZE.format("args[0]", 0))], frozenset()
    )
    length = seen(own, "len(kwargs) == 6")
    assert cause([length.guard]) == "the number of keyword arguments is not 6 any more"
    assert advice_on([length], frozenset()) == PASSED_ALIKE
    assert advice_on([seen(inside, "self.config.kind is None")], frozenset()) == OF_A_PACKAGE


def test_a_value_that_a_test_decides_by(tmp_path):
    """A tensor in its place would end the graph."""
    file = tmp_path / "net.py"
    file.write_text("def forward(self, x):\n    if self.epoch > 2:\n        x = x * self.rate\n")
    frame = FrameCompile("0/1", "forward", str(file), 1)

    def advice(text, line):
        guard = f"{text}  # ...  # {file}:{line} in forward"
        return advice_on([RecompileSeen(frame, read_guard(guard), None)], frozenset())

    assert "each side" in advice("self.epoch == 0", 2)
    assert "allow_unspec_int" in advice("self.epoch == 0", 2)
    assert "buffer" in advice("self.rate == 0.5", 3)
    assert "each side" in advice("self.epoch == 0.5", 2)
    assert "allow_unspec_int" not in advice("self.epoch == 0.5", 2)


def test_a_number_that_counts_a_loop(tmp_path):
    """The loop is unrolled: no setting makes the number dynamic."""
    file = tmp_path / "net.py"
    file.write_text("def forward(x, n):\n    for i in range(1, n):\n        x = x * n\n")
    frame = FrameCompile("0/1", "forward", str(file), 1)

    def advice(line):
        guard = read_guard(f"n == 3  # ...  # {file}:{line} in forward")
        return advice_on([RecompileSeen(frame, guard, None)], frozenset())

    assert "each value is a version" in advice(2)
    assert "dynamic=True" in advice(3)


MODULE = """\
import ast
import torch
from torch import nn
model = torch.compile(nn.Sequential(nn.Linear(8, 4)), backend="eager")
for n in ast.literal_eval("[8, 5, 1]"):
    model(torch.ones(n, 8)).sum().backward()
"""
STEP = """\
import torch

weight = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
step = torch.compile(opt.step, backend="eager")
for _ in range(3):
    weight.sum().backward()
    step()
    schedule.step()
"""


def traced(program, folder):
    pytest.importorskip("torch")
    (folder / "script.py").write_text(program)
    command = ["-m", "breakscope", "trace", "--save", "saved.json", "--", sys.executable]
    subprocess.run(
        [sys.executable, *command, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        check=True,
        capture_output=True,
    )
    report: Report = from_json((folder / "saved.json").read_bytes())
    assert {f.path for f in report.findings} == {"script.py"}
    assert not any("no line of yours" in note for note in report.run.notes)
    return report.findings


def test_a_module_of_torch_that_a_script_calls(tmp_path):
    first, second = sorted(traced(MODULE, tmp_path), key=lambda f: f.help)
    assert (first.line, second.line) == (6, 6)
    words = "what is called here was compiled again because dimension 0 of argument 1 was 8 and is 5 now"
    assert first.message == words
    assert second.message.endswith("dimension 0 of argument 1 is less than 2 now")


def test_a_module_of_torch_whose_sizes_stand_in_the_script(tmp_path):
    (found,) = traced(MODULE.replace('ast.literal_eval("[8, 5, 1]")', "(8, 5, 1)"), tmp_path)
    assert (found.code, found.evidence, found.line, found.count) == ("BRK712", "confirmed", 6, 2)
    assert "8x8, 5x8, 1x8" in found.message


def test_an_optimizers_step_that_a_script_calls(tmp_path):
    found = {f.kind: f for f in traced(STEP, tmp_path)}
    assert set(found) == {"break", "recompile"}
    assert {f.line for f in found.values()} == {9}
    assert found["break"].help.startswith("leave it")
