"""Which of two operands decides what an operator gives. The body of each program begins in line 9;
the branches on tensors break under Dynamo of torch 2.13.0, the others do not."""

import pytest
from programs import analysed, found, region

BODIES = {
    "a tensor over a list": ("if (x.sum() + [1][0]) > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a number on the left of a tensor": ("if 1.0 / x.sum() > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a size on the left of a tensor": (
        "if len(x) * x.sum() > 0:\n    x = x + 1\n",
        [("BRK101", 9)],
    ),
    "sizes": ("if len(x) * 2 - x.shape[0] > 0:\n    x = x + 1\n", []),
    "text on the left of percent": ("s = '%s' % x.sum()\n", [("BRK212", 9)]),
    "text and a size": ("s = '%d' % len(x)\n", []),
    "a list on the left": ("l = [1] * len(x)\nif len(l) > 2:\n    x = x + 1\n", []),
    "masks": ("m = (x > 0) & (x < 3)\ny = x[m]\n", [("BRK302", 10)]),
    "flags": ("f = True\nf |= len(x) > 3\nif f:\n    x = x + 1\n", []),
    "a size beside a tensor": ("n = x.sum()\ny = x.shape == (4, n)\n", []),
    "a size that may be equal": ("n = x.sum()\ny = x.shape == (n,)\n", [("BRK571", 10)]),
    "two lists with a tensor": ("n = x.sum()\ny = [1, n] != [1, 2]\n", [("BRK571", 10)]),
    "lists in tuples": ("n = x.sum()\ny = (1, [n]) < (1, [2])\n", [("BRK571", 10)]),
    "lists that differ before it": ("n = x.sum()\ny = [1, n] == [2, 2]\n", []),
    "a list and a tuple": ("n = x.sum()\ny = [n] == (2,)\n", []),
    "the same tensor": ("n = x.sum()\ny = [n] == [n]\n", []),
    "a tensor and None": ("n = x.sum()\ny = [n] == [None]\n", []),
    "a tensor and a text": ("n = x.sum()\ny = [n] == ['a']\n", []),
    "a number that was read": ("n = x.sum().item() * 2 + 1\n", [("BRK201", 9)]),
}


@pytest.mark.parametrize("name", BODIES)
def test_an_operator(name, tmp_path):
    body, expected = BODIES[name]
    assert found(region(tmp_path, body)) == expected


OBJECT = """import torch


class C:
    def __radd__(self, other):
        return 1

    def __eq__(self, other):
        return other


def run(x):
    t = TEST
    if t > 0:
        x = x + 1
    return x


def make():
    return run, (torch.ones(4),), {}
"""


@pytest.mark.parametrize(
    ("test", "reads"), [("2 + C()", False), ("x.sum() + C()", False), ("C() == x.sum()", True)]
)
def test_an_object_beside_a_tensor(test, reads, tmp_path):
    source = OBJECT.replace("TEST", test)
    codes = {c for c, _ in found(analysed(tmp_path, {"p.py": source}, "p.py::make"))}
    assert ("BRK101" in codes) is reads


SEVERAL = """import torch


class Pose:
    def __init__(self, turn):
        self.turn = turn

    def __matmul__(self, points):
        return points @ self.turn


class Moved(Pose):
    def __matmul__(self, points):
        return points @ self.turn + 1


class Net(torch.nn.Module):
    def __init__(self, moved=False, kind="still"):
        super().__init__()
        self.moved = moved
        {made}

    def forward(self, x):
        return {pose} @ x
"""
POSES = {  # how one is chosen, and the condition under which the graph ends
    "one of two classes": ("self.of = Moved if moved else Pose", "self.of(x)", ""),
    "one out of a table": ('self.of = {"still": Pose, "moved": Moved}[kind]', "self.of(x)", ""),
    "an object on one side": (
        "self.of = Pose",
        "(self.of(x) if self.moved else x)",
        "self.moved",
    ),
}


@pytest.mark.parametrize("name", POSES)
def test_an_operator_of_one_of_several_objects(name, tmp_path):
    made, pose, condition = POSES[name]
    source = SEVERAL.replace("{made}", made).replace("{pose}", pose)
    result = analysed(tmp_path, {"net.py": source})
    assert found(result) == [("BRK530", 24)]
    assert result.findings[0].condition == condition


UNSEEN = """\
import torch
from elsewhere import Matrix


class Sparse(Matrix):
    def __matmul__(self, points):
        made = super().__matmul__(points)
        if isinstance(made, Matrix):
            return Sparse(made.values)
        return made

    def __rsub__(self, other):
        return Sparse(super().__rsub__(other))


class Net(torch.nn.Module):
    def forward(self, values, points, whole=None):
        if whole is not None:
            return whole
        return points - Sparse(values) @ points
"""


def test_an_operator_of_what_is_an_object_only_possibly(tmp_path):
    result = analysed(tmp_path, {"net.py": UNSEEN})
    assert [f.code for f in result.findings] == ["BRK530", "BRK530"]
    assert sorted(f.confidence for f in result.findings) == ["certain", "possible"]


SCALED = """\
from collections.abc import Sequence

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Sequence, y: torch.Tensor):
        return ({listed} * {times}, y)
"""


@pytest.mark.parametrize("listed", ["x", "(y, {})"])
@pytest.mark.parametrize(
    ("times", "lines"),
    [("(self.scale / 2)", []), ("self.scale.exp()", []), ("self.scale.argmax()", [12])],
)
def test_what_is_called_a_sequence_times_a_tensor(listed, times, lines, tmp_path):
    source = SCALED.format(listed=listed, times=times)
    result = analysed(tmp_path, {"net.py": source})
    assert [line for code, line in found(result) if code == "BRK205"] == lines
