"""What torch's pytrees give, as Dynamo of torch 2.13.0 traces them."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        n = x.shape[0]
        if {value} > 2:
            x = x + 1
        return x
"""


@pytest.mark.parametrize(
    ("value", "breaks"),
    [
        ("tree_map(torch.sum, {'a': x})['a']", True),
        ("tree_map(lambda v: v.sum(), {'a': x})['a']", True),
        ("tree_map(lambda v: v + 1, {'a': [n, 1]})['a'][0]", False),
        ("tree_map(lambda v: v * 2, (1, [x.sum()]))[1][0]", True),
        ("tree_map(lambda v: v * 2, (1, [x.sum()]))[0]", False),
        ("tree_leaves({'a': [1, x.sum()], 'b': n})[1]", True),
        ("tree_leaves({'a': [1, x.sum()], 'b': n})[2]", False),
        ("tree_map(lambda a, b: a * b, [n, 2], [1, x.sum()])[1]", True),
        ("tree_map(lambda a, b: a * b, [n, 2], [1, x.sum()])[0]", False),
        ("tree_unflatten([x.sum()], tree_flatten({'a': n})[1])['a']", True),
        ("tree_unflatten([n], tree_flatten({'a': x})[1])['a']", False),
        ("tree_flatten((n, x.sum()))[0][1]", True),
    ],
)
def test_a_tree_keeps_its_form(tmp_path, value, breaks):
    source = PROGRAM.format(value=value)
    expected = [("BRK101", 8)] if breaks else []
    assert found(analysed(tmp_path, {"program.py": source})) == expected
