"""A `while` that begins with a number and asks a tensor from the second turn on, as solvers do."""

import pytest
from programs import analysed, found

SOLVER = """\
import torch


def solve(x: torch.Tensor, limit=1e-3, most=20):
    change, done, turn = {begin}, False, 0
    while {test}:
        new = x * 0.5
        change = {change}
        done = change < limit
        x = new
        turn += 1
    return x


def make():
    return solve, (torch.ones(3),), {{}}
"""
OF_TENSOR = "(new - x).abs().max()"
OF_NUMBER = "change * 0.5 + x.shape[0] * 0"


@pytest.mark.parametrize(
    ("begin", "test"),
    [
        ("limit + 1", "change > limit"),
        ("1.0", "change > limit and turn < most"),
        ("1.0", "turn < most and change > limit"),
        ("float('inf')", "limit < change"),
        ("1", "not done"),
        ("1", "not (done or turn > most)"),
    ],
)
@pytest.mark.parametrize("change", [OF_TENSOR, OF_NUMBER])
def test_the_test_is_asked_behind_each_turn(begin, test, change, tmp_path):
    source = SOLVER.format(begin=begin, test=test, change=change)
    result = analysed(tmp_path, {"solver.py": source}, "solver.py::make")
    assert found(result) == ([("BRK103", 6)] if change == OF_TENSOR else [])


LEFT = """\
import torch


def solve(x: torch.Tensor):
    change = 1.0
    while change > 0.1:
        x = x * 0.5
        change = x.max()
        {last}
    return x


def make():
    return solve, (torch.ones(3),), {{}}
"""


@pytest.mark.parametrize(("last", "lines"), [("break", []), ("pass", [6]), ("change = 0.0", [])])
def test_it_is_asked_with_what_the_turn_leaves(last, lines, tmp_path):
    result = analysed(tmp_path, {"solver.py": LEFT.format(last=last)}, "solver.py::make")
    assert [line for _, line in found(result)] == lines
