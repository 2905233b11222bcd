"""Objects of own classes that a `with` enters behind a break. Each body shows the breaks under Dynamo of
torch 2.13.0."""

import pytest
from programs import analysed, found

PROGRAM = """\
import time

import torch


class Plain:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False


class Timed(Plain):
    def __init__(self):
        self.began = time.time()


def timed():
    return Timed()


class Model(torch.nn.Module):
    def forward(self, x):
        {body}
        return x * 2
"""
CASES = {
    "made where nothing breaks": ("with Plain():\n    x = x + 1", []),
    "its constructor breaks": ("with Timed():\n    x = x + 1", [16, 25]),
    "as one of several": ("with torch.no_grad(), Timed():\n    x = x + 1", [16, 25]),
    "made by a function": ("with timed():\n    x = x + 1", [16, 25]),
    "made before a break": ("o = Plain()\nprint('a')\nwith o:\n    x = x + 1", [26, 27]),
    "made behind it": ("print('a')\no = Plain()\nwith o:\n    x = x + 1", [25]),
    "the second finds the function skipped": (
        "o = Timed()\nwith o:\n    x = x + 1\nwith o:\n    x = x + 1",
        [16, 26],
    ),
    "a loop skips the function before": (
        "for _ in (1, 2):\n    with Timed():\n        x = x + 1",
        [16],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_entering_what_a_break_leaves_to_python(name, tmp_path):
    body, lines = CASES[name]
    source = PROGRAM.format(body=body.replace("\n", "\n        "))
    result = analysed(tmp_path, {"program.py": source})
    assert sorted(line for _, line in found(result)) == lines
