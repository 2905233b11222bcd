"""Arrays that the constructor keeps: where the region needs a number of one, it is read. Each case was measured under
torch 2.13."""

import pytest
from programs import analysed, found

NET = """\
from itertools import product

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, dims, size=11):
        super().__init__()
        self.size = {made}

    def decide(self, n):
        return slice(0, -n) if n > 0 else slice(None)

    def forward(self, x):
        {body}
        return x
"""
KEPT = "np.broadcast_to(size, dims)"


@pytest.mark.parametrize(
    "made",
    [KEPT, "np.tile(size, dims)", "np.cumsum(dims)", "np.atleast_1d(size)", "np.array([size] * 2)"],
)
def test_what_numpy_makes_of_the_constructors_arguments_is_an_array(made, tmp_path):
    source = NET.format(made=made, body="x = x + torch.arange(self.size[0] // 2)")
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK208", 18)]


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("x = F.pad(x, 2 * [self.size[0]])", ["BRK208"]),
        ("x = x + np.zeros(self.size[0]).sum()", ["BRK208"]),
        ("x = x + np.linspace(0, 1, self.size[0]).sum()", ["BRK208"]),
        ("x = x + np.linspace(self.size[0], 1, 4).sum()", []),
        ("x = x + np.zeros(x.shape[0]).sum()", []),
        ("x[tuple(self.size // 2)] = 0", ["BRK213"]),
        ("x[(..., *self.size // 2)] = 0", ["BRK213"]),
        ("x = x[tuple([torch.arange(2) for _ in self.size])]", []),
        ("cut = slice(0, self.size[0]); x = x[cut]", ["BRK206"]),
        ("x = x[tuple(slice(n // 2, None) for n in x.shape[:1] + tuple(self.size))]", ["BRK206"]),
        ("x = x[tuple(slice(n // 2, None) for n in x.shape)]", []),
        ("x = x + np.broadcast_to(self.size, 3).sum()", ["BRK510"]),
        ("x = x + np.broadcast_to(self.size, (3, 1)).sum()", []),
        ("x = x[np.logical_and(self.size > 1, self.size < 4)]", ["BRK302"]),
    ],
)
def test_numbers_of_kept_arrays(body, codes, tmp_path):
    result = analysed(tmp_path, {"net.py": NET.format(made=KEPT, body=body)})
    assert [code for code, line in found(result) if line == 18] == codes


def test_the_product_of_a_list_of_arrays_gives_tuples_of_their_numbers(tmp_path):
    """`map` calls the method for each, where the list's length is not known either."""
    body = "for s in product(*[np.arange(3) for _ in self.size]): x[tuple(map(self.decide, s))] = 0"
    result = analysed(tmp_path, {"net.py": NET.format(made=KEPT, body=body)})
    assert ("BRK101", 15) in found(result)
