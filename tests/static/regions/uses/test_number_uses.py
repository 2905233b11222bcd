"""What is advised about a number that differs between calls, by what the region does with it. Each advice
was followed under torch 2.13: what is left to compile is what it says."""

import pytest
from programs import analysed

from breakscope.rulekit.numbers import advice

ARGUMENT = """\
import math

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(6))
        self.register_buffer("table", torch.ones(16, 4))

    def solve(self, x, n):
        return x * n

    def forward(self, x, n):
        {body}


net = torch.compile(Net())
for n in ({values}):
    net(torch.ones(4, 4), n)
"""
BODIES = {
    "computed with": ("return x * n", "arithmetic"),
    "a part of what is computed with": (
        "h = 1.0 / n\n        return torch.sin(x * h)",
        "arithmetic",
    ),
    "what has a name": ("y = x * n\n        return y", "arithmetic"),
    "a size that is computed": ("m = len(x) * n\n        return torch.ones(m)", "size"),
    "a method that takes tensors": ("return x.mul(n)", "arithmetic"),
    "the largest of two": ("return x * max(n, 2)", "arithmetic"),
    "a mask": ("return x * (x > n)", "arithmetic"),
    "a size": ("return torch.ones(n) * x.sum()", "size"),
    "the number of the largest": ("return x.topk(n).values", "size"),
    "an index": ("return self.table[n] * x", "size"),
    "the bound of a slice": ("return self.table[: n + 1].sum() * x", "size"),
    "a dimension": ("return x.softmax(dim=n)", "size"),
    "the length of a loop": (
        "for _ in range(n):\n            x = x.sin()\n        return x",
        "value",
    ),
    "the place of a layer": ("return self.layers[n](x)", "value"),
    "text": ("return {f'{n}': x * n}", "value"),
    "a test": ("return x.sin() if n > 3 else x.cos()", "branch"),
    "handed on": ("return self.solve(x, n)", "other"),
}
FLOATS = {
    "computed with": ("return x / n", "arithmetic"),
    "a rate": ("return F.dropout(x, n)", "number"),
    "a keyword that takes a number": ("return x.add(x, alpha=n)", "number"),
    "a function of Python's": ("return x * math.exp(n)", "value"),
    "another function's": ("return F.gumbel_softmax(x, tau=n)", "arithmetic"),
}


def helps(path, source, code):
    return [f.help for f in analysed(path, {"parts.py": source}).findings if f.code == code]


@pytest.mark.parametrize("name", BODIES)
def test_a_whole_number(name, tmp_path):
    body, use = BODIES[name]
    found = helps(tmp_path, ARGUMENT.format(body=body, values="2, 4, 5"), "BRK708")
    assert found == [advice.of_argument("n", use)]


@pytest.mark.parametrize("name", FLOATS)
def test_a_float(name, tmp_path):
    body, use = FLOATS[name]
    found = helps(tmp_path, ARGUMENT.format(body=body, values="0.1, 0.2, 0.3"), "BRK709")
    assert found == [advice.of_argument("n", use)]


KEPT = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {first}

    def forward(self, x):
        return {use}


net = Net()
run = torch.compile(net)
for value in ({values}):
    net.kept = value
    run(torch.ones(4, 4))
"""
VALUES = {
    "computed with": ("1", "x * self.kept", "2, 3, 4", "fill_"),
    "a size": ("1", "torch.ones(self.kept) * x.sum()", "2, 3, 4", "as an argument"),
    "a rate": ("0.1", "F.dropout(x, self.kept)", "0.2, 0.3, 0.4", "takes a Python number only"),
    "a flag": ("False", "x * 2 if self.kept else x + 1", "True, False", "before timing"),
    "a text": ("'a'", "x * 2 if self.kept == 'a' else x + 1", "'b', 'a'", "before timing"),
    "a layer": ("nn.ReLU()", "self.kept(x)", "nn.GELU(), nn.SiLU()", "before the first call"),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_set_between_calls(name, tmp_path):
    first, use, values, words = VALUES[name]
    (found,) = helps(tmp_path, KEPT.format(first=first, use=use, values=values), "BRK702")
    assert words in found
    assert ("0-d tensor" in found) == (words == "fill_")


def test_a_list_that_grows_is_kept_at_one_length(tmp_path):
    source = KEPT.format(first="[]", use="sum(self.kept, x)", values="1, 2, 3")
    source = source.replace("net.kept = value", "net.kept.append(torch.ones(4))")
    assert [("deque(maxlen=" in help) for help in helps(tmp_path, source, "BRK702")] == [True]
