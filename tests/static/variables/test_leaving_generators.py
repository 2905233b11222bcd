"""Generators that a region makes and leaves behind. Dynamo of torch 2.13.0 skips the function where a break is expected
(GB8335, GB0091), and compiles it whole where none is."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


def numbers():
    yield 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def length(self, p):
        return len(list(p))

    def forward(self, x: torch.Tensor):
        x = x * 2
        p = {made}
        {then}
"""


@pytest.mark.parametrize(
    ("made", "then", "breaks"),
    [
        ("(i * 2 for i in (1, 2))", "return x, p", True),
        ("(x * i for i in (1, 2))", "return {'a': p, 'b': x}", True),
        ("numbers()", "return x, p", False),
        ("(x * i for i in (1, 2))", "self.kept = p; return x", True),
        ("(i * 2 for i in (1, 2))", "return x * self.length(p)", False),
        ("(i * 2 for i in (1, 2))", "return x * sum(p)", False),
        ("[i * 2 for i in (1, 2)]", "return x, p", False),
        ("tuple(i * 2 for i in (1, 2))", "self.kept = p; return x", False),
        ("zip((1, 2), (3, 4))", "return x, p", False),
    ],
)
def test_what_leaves_the_region(made, then, breaks, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made=made, then=then)})
    assert [code for code, _ in found(result)] == (["BRK586"] if breaks else [])
