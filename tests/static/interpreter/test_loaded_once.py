"""What a function loads into a global in the first call of a program."""

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
