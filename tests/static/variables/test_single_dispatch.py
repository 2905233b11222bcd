"""What `functools.singledispatch` is called with, and whether Dynamo of torch 2.13.0 ends the graph."""

import pytest
from programs import analysed, found

PROGRAM = """\
import functools

import torch


class Size:
    pass


@functools.singledispatch
def amount(value):
    return 2


@amount.register(torch.Tensor)
def _(value):
    return 3


size, layer = Size(), torch.nn.ReLU()


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x * amount({given})
"""


@pytest.mark.parametrize(
    ("given", "breaks"),
    [
        ("x", False),
        ("size", False),
        ("layer", False),
        ("[x]", False),
        ("3", True),
        ("'a'", True),
        ("x.shape[0]", True),
        ("(1, None)", True),
    ],
)
def test_only_a_constant_ends_the_graph(tmp_path, given, breaks):
    expected = [("BRK564", 25)] if breaks else []
    assert found(analysed(tmp_path, {"program.py": PROGRAM.format(given=given)})) == expected
