"""What an index says of a container of which nothing is known. Dynamo of torch 2.13.0 reads a tensor of one number
there, be it of a list (GB0124), a ModuleList, an array or a tensor (GB0033)."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, parts, config):
        super().__init__()
        self.parts = parts
        self.config = config

    def forward(self, x: torch.Tensor, n: int):
        return x + {item}
"""


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("self.parts[x.argmax()]", [("BRK213", 11)]),
        ("self.config.parts[x.argmax()]", [("BRK213", 11)]),
        ("self.parts[n]", []),
        ("self.parts[x.dim() - 1]", []),
        ("self.parts[x.argmax(-1)]", []),
        ("self.parts['a']", []),
    ],
)
def test_a_tensor_of_one_number_as_the_index(item, expected, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(item=item)})
    assert found(result) == expected


def test_each_of_the_different_values(tmp_path):
    loop = "sum(self.parts[i] for i in torch.unique(x))"
    result = analysed(tmp_path, {"net.py": PROGRAM.format(item=loop)})
    assert ("BRK305", 11) in found(result)
