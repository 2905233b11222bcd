"""A tensor made of one number of Python's, whose value torch knows while it traces: what its values decide the size of
ends no graph under torch 2.13.0; of two numbers it does."""

import pytest
from programs import analysed, found


def codes(tmp_path, result):
    source = f"""import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, flag: bool = True):
        return {result}
"""
    return {code for code, _ in found(analysed(tmp_path, {"net.py": source}))}


@pytest.mark.parametrize(
    "result",
    [
        "x[torch.tensor([flag])] + 1",
        "x[torch.tensor([True])] + 1",
        "torch.tensor([1]).nonzero() + x",
        "torch.argwhere(torch.tensor([1])) + x",
        "torch.where(torch.tensor([flag]))[0] + x",
        "torch.tensor([1]).unique() + x",
    ],
)
def test_what_one_number_decides_is_traced(result, tmp_path):
    assert codes(tmp_path, result) == set()


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ("x[torch.tensor([flag, True])] + 1", "BRK302"),
        ("torch.tensor([1, 0]).nonzero() + x", "BRK301"),
        ("torch.tensor([1, 0]).unique() + x", "BRK305"),
        ("torch.masked_select(x, torch.tensor([True])) + 1", "BRK304"),
    ],
)
def test_what_several_decide_is_not(result, code, tmp_path):
    assert codes(tmp_path, result) == {code}
