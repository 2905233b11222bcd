"""What tensors and arrays are cast to, by the many names that a dtype has: of a mask Dynamo does not know how many it
picks."""

import pytest
from programs import analysed, found

PROGRAM = """import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        values = x.detach().numpy()
        return x[{index}]
"""
MASKS = [
    "torch.from_numpy(values.astype(bool))",
    "torch.from_numpy(values.astype(np.bool_))",
    "torch.from_numpy(values.astype('bool'))",
    "torch.from_numpy(np.triu(np.ones((3, 3)), k=1).astype(bool))",
    "torch.tensor(values.astype(bool))",
    "torch.ones(3).to(bool)",
    "torch.ones(3).type(torch.BoolTensor)",
]
NUMBERS = [
    "torch.from_numpy(values.astype(int))",
    "torch.from_numpy(values.astype(np.int64))",
    "torch.from_numpy(values.astype('int64'))",
    "torch.from_numpy((values > 0).astype(int))",
    "(x > 0).to(int)",
    "(x > 0).type(torch.LongTensor)",
]


@pytest.mark.parametrize("index", MASKS)
def test_a_mask(index, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(index=index)})
    assert found(result) == [("BRK302", 9)]


@pytest.mark.parametrize("index", NUMBERS)
def test_numbers(index, tmp_path):
    assert found(analysed(tmp_path, {"program.py": PROGRAM.format(index=index)})) == []
