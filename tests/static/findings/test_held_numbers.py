"""Numbers that a break hands on and that nothing looks at: they matter where another break, or more work of the
same statement, comes before they are given back. Each body was measured under torch 2.13."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


@torch.compile
def step(x):
{body}


for _ in range(3):
    step(torch.randn(4))
"""
AGAIN = [
    "return x.tolist(), x.sum().item()",
    "return [x.tolist(), (x * 2).tolist()]",
    "print(x.sum().item())\nreturn x",
    "return {'a': x.sum().item(), 'b': x.mean().item()}",
    "a = x.sum().item()\nb = x.mean().item()\nreturn a, b",
    "a = x.sum().item()\nprint('there')\ny = x + 1\nreturn y, a",
    "print(f'{x.sum().item():.3f}')\nreturn x",
    "return x.sum().item(), x + 1",
    "return [x.sum().item(), 1], x.mean()",
    "a, b = x.sum().item(), x.mean().item()\nreturn x, a, b",
    "a = x.sum().item()\nif x.mean() > 0:\n    x = x + 1\nreturn x, a",
    "held = {}\nheld['a'] = x.sum().item()\nheld['b'] = x.mean().item()\nreturn x, held",
]
ONCE = [
    "a = x.tolist()\nb = x.sum().item()\nreturn a, b",
    "a = x.sum().item()\nprint('there')\nreturn x + 1",
    "return x + 1, x.sum().item()",
    "a = x.sum().item()\nreturn x + 1, a",
    "print('there', x.sum())\na = x.sum().item()\nreturn x, a",
]


def hazards(folder, body):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    result = analysed(folder, {"run.py": PROGRAM.format(body=lines)})
    return [code for code, _ in found(result) if code.startswith("BRK7")]


@pytest.mark.parametrize("body", AGAIN)
def test_a_number_that_a_later_break_hands_on_again(body, tmp_path):
    assert hazards(tmp_path, body) == ["BRK730"]


@pytest.mark.parametrize("body", ONCE)
def test_a_number_that_is_only_given_back(body, tmp_path):
    assert hazards(tmp_path, body) == []
