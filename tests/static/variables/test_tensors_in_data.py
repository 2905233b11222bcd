"""What torch makes a tensor of while Dynamo traces (2.13.0): of tensors and NumPy's numbers in a list, of arrays,
and of a size. `torch.compile` raises for `as_tensor`, `asarray` and the constructors of old, and traces `tensor`; of a
size these give another tensor."""

import pytest
from programs import analysed, found

PROGRAM = """\
import numpy as np
import torch

SCALE = np.float64(2.0)


@torch.compile
def f(x: torch.Tensor, size: int, either: bool):
    return {made}
"""
CASES = [
    ("torch.as_tensor([x.sum(), x.max()])", True),
    ("torch.as_tensor((x.sum(), 1), dtype=torch.float64)", True),
    ("torch.asarray([x[0], x[1]])", True),
    ("torch.as_tensor([[x.sum(), 1], [1, 2]])", True),
    ("torch.as_tensor([row.sum() for row in x])", True),
    ("torch.as_tensor([x.sum()] if either else [1])", True),
    ("torch.as_tensor(data=[x.sum()])", True),
    ("torch.tensor([x.sum(), x.max()])", False),
    ("torch.as_tensor(x.sum())", False),
    ("torch.as_tensor([size, 1])", False),
    ("torch.as_tensor([x.shape[0], x.ndim])", False),
    ("torch.as_tensor(x.shape)", False),
    ("torch.as_tensor([1.0 for row in x])", False),
    ("torch.as_tensor([np.sqrt(2.0), 1.0])", True),
    ("torch.as_tensor([SCALE, 1.0])", True),
    ("torch.tensor([np.sqrt(2.0), 1.0])", False),
    ("torch.Tensor([x.sum(), x.max()])", True),
    ("torch.FloatTensor([x.sum(), x.max()])", False),
    ("torch.FloatTensor([row.sum() for row in x])", False),
    ("torch.FloatTensor([x.sum()])", True),
    ("torch.FloatTensor([x.sum(), 1.0])", True),
    ("torch.FloatTensor([np.sin(i) for i in range(size)])", True),
    ("torch.FloatTensor([np.pi, 1.0])", False),
    ("x.new([x.sum(), x.max()])", True),
    ("x.new_tensor([x.sum(), x.max()])", False),
    ("torch.FloatTensor(np.arange(3))", True),
    ("torch.FloatTensor(np.arange(3, dtype=np.float32))", False),
    ("torch.FloatTensor(np.ones(3, np.float32))", False),
    ("torch.LongTensor(np.ones(3))", True),
    ("torch.LongTensor(np.ones(3, dtype='int64'))", False),
    ("torch.LongTensor(np.arange(3))", False),
]
SIZES = [
    ("torch.Tensor(x.size())", True),
    ("torch.FloatTensor(x.shape[1:])", True),
    ("torch.LongTensor(x.shape + (2,))", True),
    ("torch.Tensor((2,) + x.shape)", True),
    ("torch.Tensor(tuple(x.shape))", False),
    ("torch.Tensor(*x.shape)", False),
    ("torch.empty(x.size())", False),
    ("x.new(x.size())", False),
]


@pytest.mark.parametrize("made, raises", CASES)
def test_tensors_in_a_list(made, raises, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(made=made)})
    assert found(result) == ([("BRK551", 9)] if raises else [])


@pytest.mark.parametrize("made, differs", SIZES)
def test_tensor_of_a_size(made, differs, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(made=made)})
    assert found(result) == ([("BRK831", 9)] if differs else [])
