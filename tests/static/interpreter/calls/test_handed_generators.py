"""A generator expression that is the only argument of a call with a break inside."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch

ROWS = [torch.ones(2), torch.ones(2)]


def add(a, b, c=None):
    print("adding")
    return a + b


def total(parts):
    every = sum(parts)
    print(every.shape)
    return every


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x + 1
        return {call} * y
"""


@pytest.mark.parametrize(
    ("call", "breaks"),
    [
        ("add(*(x[i] for i in range(2)))", True),
        ("add(*(x[i] for i in range(2)), c=y)", True),
        ("add(*(torch.relu(row) for row in ROWS))", True),
        ("total(x * i for i in range(2))", True),
        # a generator of nothing but a range Dynamo makes anew
        ("add(*(torch.ones(2) for i in range(2)))", False),
        # unpacked into a list before the call
        ("add(y, *(x[i] for i in range(1)))", False),
        ("add(*[x[i] for i in range(2)])", False),
        ("torch.add(*(x[i] for i in range(2)))", False),
    ],
)
def test_a_break_in_what_a_generator_is_handed_to(call, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(call=call)})
    assert (("BRK113", 20) in found(result)) == breaks
