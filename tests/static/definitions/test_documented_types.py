"""What docstrings say of parameters. Without a word of `x` there is nothing that makes it a tensor."""

import pytest
from programs import analysed, found

TENSORS = {
    "Google's": "x (torch.Tensor): the values",
    "with a shape": "x (Tensor, shape [n, 3]): the values",
    "that may be left out": "x (torch.FloatTensor, optional): the values",
    "NumPy's": "x : torch.Tensor of shape (n,)\n    the values",
    "Sphinx's": ":param x: the values\n:type x: Tensor",
    "Sphinx's in one line": ":param torch.Tensor x: the values",
}
OTHERS = {
    "nothing": "x: the values",
    "a number": "x (int): how many",
    "one of several": "x (Tensor or list): the values",
    "one of two": "x (Tensor | float): the values",
    "a list": "x (list of Tensors): the values",
    "of another class": "x (SparseTensor): the values",
    "another": "y (Tensor): the values",
    "an open bracket": "x (Tensor: the values",
}
PROGRAM = '''import torch
from torch import Tensor, nn


class Net(nn.Module):
    def forward(self, t: Tensor, batch):
        return self.part(batch.graph.nodes, t, batch.graph.which)

    def part(self, x, t: Tensor, m: Tensor = None):
        """Something.

        DOC
        """
        if x > 0:
            return t
        return t[m]
'''


def codes_in(said, tmp_path):
    source = PROGRAM.replace("DOC", said.replace("\n", "\n        "))
    return [code for code, _ in found(analysed(tmp_path, {"program.py": source}))]


@pytest.mark.parametrize("said", TENSORS.values(), ids=TENSORS)
def test_a_tensor(said, tmp_path):
    assert codes_in(said, tmp_path) == ["BRK101"]


@pytest.mark.parametrize("said", OTHERS.values(), ids=OTHERS)
def test_none_or_not_only(said, tmp_path):
    assert codes_in(said, tmp_path) == []


@pytest.mark.parametrize(
    "said", ["m (BoolTensor): which", "m (torch.Tensor, bool): which", "m : Tensor of booleans"]
)
def test_a_mask(said, tmp_path):
    assert codes_in(said, tmp_path) == ["BRK302"]


@pytest.mark.parametrize(
    "said", ["m (LongTensor): which", "m (Tensor): which", "m (bool): whether"]
)
def test_no_mask(said, tmp_path):
    assert codes_in(said, tmp_path) == []


def test_an_argument_of_what_is_compiled(tmp_path):
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x, scale=None):\n"
        '    """\n    Args:\n        scale (Tensor, optional): by what\n    """\n'
        "    if scale is not None and scale > 0:\n        return x\n    return x + 1\n"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK101", 10)]
