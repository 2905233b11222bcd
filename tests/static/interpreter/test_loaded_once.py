"""What a program loads into a global, or trains, in its first call."""

import pytest
from programs import analysed, found, seen

PROGRAM = """\
import os

import torch

KERNELS = None


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        {declared}
        if KERNELS is None:
            KERNELS = os.path.exists({name})
        return x * 2

    @staticmethod
    def backward(ctx, given):
        return given, None


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, name: str):
        return Scaled.apply(x, name)
"""


@pytest.mark.parametrize(
    ("declared", "name", "is_loaded"),
    [
        ("global KERNELS", "'kernels'", True),
        ("global KERNELS", "name", False),
        ("KERNELS = os.environ.get('KERNELS')", "'kernels'", False),
    ],
)
def test_a_global_that_is_loaded(declared, name, is_loaded, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(declared=declared, name=name)})
    assert ("BRK407", 13) in seen(result)
    assert (("BRK407", 13) not in found(result)) == is_loaded


KEPT = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = None

    def made(self, x):
        print(x.shape)
        {made}

    def forward(self, x):
        if self.codes is None:
            self.codes = self.made(x)
        return x * self.codes
"""


@pytest.mark.parametrize(
    ("made", "is_shown"),
    [
        ("return x.detach()", True),
        ("x.sum().backward()\n        return x.grad", False),
        ("return torch.load('codes.pt')", False),
    ],
)
def test_what_is_trained_or_read_in_the_first_call(made, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": KEPT.format(made=made)})
    assert ("BRK401", 10) in seen(result)
    assert (("BRK401", 10) in found(result)) == is_shown
