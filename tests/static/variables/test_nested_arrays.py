"""Arrays in lists that an array is made of, as Dynamo was seen to make one, or none."""

import pytest
from programs import analysed, found

PROGRAM = """import itertools
import math
import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.number = np.float64(2.0)

    def forward(self, x):
        a = np.linspace(-1, 1, 4)
        y = np.array({made})
        return x.sum() + torch.from_numpy(y)
"""
BREAKS = [
    "list(itertools.product(a, a))",
    "[(a[0], a[1]), (a[2], a[3])]",
    "[[v, w] for v in a for w in a]",
    "[a[0], 1.0, 2.0]",
    "[[a, a], [a, a]]",
    "[[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]]",
    "[np.sqrt(2.0), 1.0]",
    "[self.number, 1.0]",
]
TRACED = [
    "[a, a]",
    "(a[0], a[1])",
    "[v for v in a]",
    "list(itertools.product(range(2), range(3)))",
    "[[math.cos(0.1), -math.sin(0.1)]]",
    "[np.sqrt(2.0), np.sqrt(3.0)]",
    "[[np.pi, 1.0], [1.0, 2.0]]",
    "[x.shape[0], 1.0]",
]


@pytest.mark.parametrize("made", BREAKS)
def test_what_ends_the_graph(made, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(made=made)})
    assert found(result) == [("BRK510", 15)]


@pytest.mark.parametrize("made", TRACED)
def test_what_is_traced(made, tmp_path):
    assert found(analysed(tmp_path, {"program.py": PROGRAM.format(made=made)})) == []
