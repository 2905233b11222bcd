"""`operator.index` of what is only taken for a tensor is of a number."""

import pytest
from programs import analysed, found

SOURCE = """\
import operator

import torch


class Bands(torch.nn.Module):
    def forward(self, x, n{annotation}):
        return torch.linspace(0, 1, operator.index(n)) * x.sum() * n
"""


@pytest.mark.parametrize(
    ("annotation", "lines"),
    [("", []), (": torch.Tensor", [("BRK202", 8)])],
)
def test_operator_index(annotation, lines, tmp_path):
    assert found(analysed(tmp_path, {"net.py": SOURCE.format(annotation=annotation)})) == lines
