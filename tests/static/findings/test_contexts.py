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


GENERATORS = """\
import contextlib
import torch


def shown(x):
    print(x)


@contextlib.contextmanager
def around(x):
    {before}
    yield x
    {behind}


class Model(torch.nn.Module):
    def forward(self, x):
        with around(x) as y:
            x = {inside}
        return x.nonzero()
"""


@pytest.mark.parametrize(
    ("before", "behind", "inside", "expected"),
    [
        ("pass", "pass", "y * 2", [("BRK301", 20)]),
        ("print(x)", "pass", "y.nonzero()", [("BRK401", 11)]),
        ("shown(x)", "pass", "y.nonzero()", [("BRK401", 6)]),
        ("pass", "print(x)", "y * 2", [("BRK401", 13)]),
        ("pass", "pass", "y.nonzero()", [("BRK301", 19)]),
    ],
)
def test_a_break_in_the_generator_of_a_context(before, behind, inside, expected, tmp_path):
    """Dynamo does not resume in the `with`, and leaves the function to Python (torch 2.13.0)."""
    source = GENERATORS.format(before=before, behind=behind, inside=inside)
    assert found(analysed(tmp_path, {"model.py": source})) == expected


HANDLED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x
        try:
            {body}
        except ValueError:
            y = {inside}
        return y.nonzero()
"""


@pytest.mark.parametrize(
    ("body", "inside", "expected"),
    [
        ("raise ValueError", "x + 1", [("BRK301", 11)]),
        ("raise ValueError", "x.nonzero()", [("BRK301", 10)]),
        ("y = x + 1", "x.nonzero()", [("BRK301", 11)]),
    ],
)
def test_a_break_where_an_exception_is_handled(body, inside, expected, tmp_path):
    source = HANDLED.format(body=body, inside=inside)
    assert found(analysed(tmp_path, {"model.py": source})) == expected
