"""`if self.bias:` asks whether there is a parameter, as the truth of several numbers is an error."""

import pytest
from programs import analysed, found

LAYER = """\
import torch


class Layer(torch.nn.Module):
    def __init__(self, width, bias=None):
        super().__init__()
        self.bias = bias
        if bias:
            self.bias = torch.nn.Parameter(torch.{made})

    def forward(self, x):
        if {test}:
            x = x + self.bias
        return x
"""


@pytest.mark.parametrize(
    ("made", "test", "is_shown"),
    [
        ("Tensor(width)", "self.bias", False),
        ("zeros(width, 3)", "self.bias", False),
        ("zeros(width, 3)", "not self.bias", False),
        ("zeros(())", "self.bias", True),
        ("zeros(1)", "self.bias", True),
        ("Tensor(width)", "self.bias.sum() > 0", True),
    ],
)
def test_a_parameter_that_may_be_there(made, test, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": LAYER.format(made=made, test=test)})
    assert (("BRK101", 12) in found(result)) == is_shown
