"""What the code around a region read from a tensor is a plain number there, alone or in a list."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


@torch.compile
def cut(x, n):
    return x[: {bound}] * 2


def main():
    for _ in range(4):
        cut(torch.ones(30), {given})


main()
"""


@pytest.mark.parametrize(
    ("bound", "given"),
    [
        ("n", "torch.randn(20).argmax().item()"),
        ("n", "torch.randn(20).argmax().item() + 3"),
        ("n[0]", "[torch.randn(20).argmax().item()]"),
        ("n[0]", "torch.randint(4, 20, (3,)).tolist()"),
        ("n[0][1]", "torch.randint(4, 20, (2, 2)).tolist()"),
    ],
)
def test_whole_numbers_of_a_tensor(bound, given, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(bound=bound, given=given)})
    assert found(result) == [("BRK708", 6)]


def test_a_float_of_a_tensor(tmp_path):
    source = PROGRAM.format(bound="3] * n[0", given="torch.rand(2).tolist()")
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == ["BRK709"]
