"""Arrays of texts that a module keeps. Dynamo of torch 2.13.0 skips a function that reads one (GB0185)."""

import pytest
from programs import analysed, found

PROGRAM = """\
import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self, names=("a", "b")):
        super().__init__()
        self.names = {made}

    def forward(self, x: torch.Tensor):
        x = x * 2
        return x * {use}
"""


@pytest.mark.parametrize(
    ("made", "use", "breaks"),
    [
        ("np.array(['a', 'b'])", "len(self.names)", True),
        ("np.array(list(names))", "len(self.names)", True),
        ("np.array(['a', 'b'])", "(1 if self.names is not None else 2)", True),
        ("np.array([['a'], ['b']])", "self.names.shape[0]", True),
        ("['a', 'b']", "len(self.names)", False),
        ("np.array([1, 2])", "len(self.names)", False),
    ],
)
def test_a_read_of_such_an_array(made, use, breaks, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made=made, use=use)})
    assert found(result) == ([("BRK510", 12)] if breaks else [])
