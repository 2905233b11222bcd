"""Regions that `--entry FILE::NAME` names."""

import pytest
from programs import analysed, found

SOURCE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x

    def infer(self, x):
        return x.sum().item()

    def inner(self, x):
        return x.tolist()


class Other:
    def infer(self, x):
        return x.item()
"""


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        ("nets.py::Net.infer", [10]),
        ("nets.py::Net.*", [10, 13]),
        ("nets.py::*.infer", [10, 18]),
        ("nets.py::Net", []),
    ],
)
def test_methods(entry, lines, tmp_path):
    result = analysed(tmp_path, {"nets.py": SOURCE}, entry)
    assert sorted(line for _, line in found(result)) == lines
