"""Functions that Numba compiles. Dynamo of torch 2.13.0 ends the graph at each call of one (GB0156, GB0007), and
follows what is behind no such decorator."""

import pytest
from programs import analysed, found

PROGRAM = """\
import numba
import torch
from numba import njit, vectorize


{decorator}
def sums(values):
    print(values)
    return values + 1


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x + torch.as_tensor(sums(x.detach().numpy()))
"""


@pytest.mark.parametrize(
    "decorator",
    [
        "@njit",
        "@njit(parallel=True, cache=True)",
        "@numba.jit(nopython=True)",
        '@vectorize(["float64(float64)"])',
    ],
)
def test_a_compiled_function(decorator, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(decorator=decorator)})
    assert found(result) == [("BRK599", 14)]


def test_without_the_decorator_it_is_followed(tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(decorator="@torch.no_grad()")})
    assert found(result) == [("BRK401", 8)]
