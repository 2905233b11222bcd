"""What functions give back that Dynamo leaves to Python, disabled ones and those with a break: the code behind the call is
compiled again where it is another one in each call. Each program was measured under torch 2.13."""

import pytest
from programs import analysed, found

PROGRAM = """\
import itertools
import random
import time

import torch

seen = []
numbers = itertools.count()
calls = 0


class Meter:
    def __init__(self):
        self.calls = 0

    @torch.compiler.disable
    def note(self):
        self.calls += 1
        return f"call {{self.calls}}"

    @torch.compiler.disable
    def count(self):
        self.calls = self.calls + 1
        return self.calls


meter = Meter()


{helper}


@torch.compile(backend="eager")
def step(x):
{body}


for _ in range(4):
    step(torch.randn(3, 4))
"""
DISABLED = "@torch.compiler.disable\ndef helper(x):\n    "
GLOBAL = "global calls\n    calls += 1\n    return calls"
TIMES = "return x * helper(x)"
AGAIN = [
    (DISABLED + "return time.perf_counter()", TIMES),
    (DISABLED + "return random.uniform(0.5, 1.5)", TIMES),
    (DISABLED + "return x.mean().item()", "m = helper(x)\nreturn x - m"),
    (DISABLED + "return x.mean().item(), x.std().item()", "m, s = helper(x)\nreturn (x - m) / s"),
    (DISABLED + "return {'mean': x.mean().item()}", "m = helper(x)\nreturn x - m['mean']"),
    (DISABLED + "seen.append(x)\n    return len(seen)", "n = helper(x)\nreturn x / n"),
    (DISABLED + "return next(numbers)", TIMES),
    (DISABLED + GLOBAL, "n = helper(x)\nif n > 2:\n    x = x + 1\nreturn x * 2"),
    ("", "return x * meter.count()"),
    ("", "name = meter.note()\nif name.endswith('9'):\n    x = x + 1\nreturn x * 2"),
    ("def helper(x):\n    try:\n        v = x.abs().mean().item()\n    except RuntimeError:\n        v = 1.0\n    return v", "y = x + 1\nreturn y / helper(y)"),
    ("def helper(x):\n    t = 0.0\n    for row in x:\n        t += row.max().item()\n    return t", "y = x + 1\nreturn y / helper(y)"),
    ("def inner(x):\n    return x.mean().item()\n\ndef helper(x):\n    return inner(x)", "m = helper(x + 1)\nreturn x - m"),
]  # fmt: skip
ONCE = [
    (DISABLED + "return 3.0", TIMES),
    (DISABLED + "return x.shape[0]", TIMES),
    (DISABLED + GLOBAL, "n = helper(x)\nreturn x * 2, n"),
    (DISABLED + "seen.append(x)\n    return x.mean()", TIMES),
    (DISABLED + "number = 0\n    number += 1\n    return number", TIMES),
]


def hazards(folder, helper, body):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    result = analysed(folder, {"run.py": PROGRAM.format(helper=helper, body=lines)})
    return [code for code, _ in found(result) if code.startswith("BRK7")]


@pytest.mark.parametrize(("helper", "body"), AGAIN)
def test_another_one_in_each_call(helper, body, tmp_path):
    assert hazards(tmp_path, helper, body) == ["BRK730"]


@pytest.mark.parametrize(("helper", "body"), ONCE)
def test_the_same_one_or_one_that_nothing_looks_at(helper, body, tmp_path):
    assert hazards(tmp_path, helper, body) == []


def test_a_tensor_as_long_as_its_values_make_it(tmp_path):
    helper = DISABLED + "return x[x > 0]"
    assert hazards(tmp_path, helper, "k = helper(x)\nreturn k.sum() / k.shape[0]") == ["BRK731"]


SET_BY_PYTHON = """\
import torch

COUNTS = {{"steps": 0}}
limit = 1.0


class Meter:
    def __init__(self):
        self.calls = 0
        self.last = 0.0
        self.total = 0.0

    @torch.compiler.disable
    def update(self, value):
        self.calls += 1
        self.last = value.item()
        self.total += self.last

    @property
    def average(self):
        return self.total / self.calls


@torch.compiler.disable
def count():
    global limit
    COUNTS["steps"] += 1
    limit = limit * 0.9


meter = Meter()


@torch.compile(backend="eager")
def step(x):
{body}


for _ in range(4):
    step(torch.randn(4))
"""
READ = [
    "meter.update(x.mean())\nreturn x / meter.calls",
    "meter.update(x.mean())\nreturn x - meter.average",
    "y = x - meter.last\nmeter.update(x.mean())\nreturn y",
    "count()\nreturn x / COUNTS['steps']",
    "count()\nreturn x / limit",
]
NOT_READ = ["meter.update(x.mean())\nreturn x * 2", "count()\nreturn x * 2"]


def set_by_python(folder, body):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    result = analysed(folder, {"run.py": SET_BY_PYTHON.format(body=lines)})
    return {code for code, _ in found(result) if code.startswith("BRK7")}


@pytest.mark.parametrize("body", READ)
def test_what_a_disabled_function_sets_and_the_region_reads(body, tmp_path):
    assert set_by_python(tmp_path, body) == {"BRK702"}


@pytest.mark.parametrize("body", NOT_READ)
def test_what_only_the_disabled_function_reads(body, tmp_path):
    assert set_by_python(tmp_path, body) == set()


def test_a_compiled_function_that_is_given_no_tensor(tmp_path):
    program = """\
import torch


class Source:
    def __init__(self):
        self.scale = 0.4

    @torch.compiler.disable
    def rows(self, count):
        self.scale = min(1.0, self.scale + 0.05)
        return torch.randn(count, 4)


source = Source()


@torch.compile(backend="eager")
def step(count):
    rows = source.rows(count)
    return rows * (1 - source.scale)


for _ in range(3):
    step(4)
"""
    result = found(analysed(tmp_path, {"run.py": program}))
    assert result == [("BRK501", 19), ("BRK702", 20)]
