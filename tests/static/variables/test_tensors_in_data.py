"""Tensors in a list that torch makes a tensor of. `torch.compile` of torch 2.13.0 raises for `as_tensor` and
`asarray`, and traces `tensor`."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


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
]


@pytest.mark.parametrize("made, raises", CASES)
def test_tensors_in_a_list(made, raises, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(made=made)})
    assert found(result) == ([("BRK551", 6)] if raises else [])
