"""Sizes that loops of a region go over: Dynamo makes constants of them, whatever is said of symbols."""

import ast

import pytest
from programs import analysed

from breakscope.static.regions.uses.loops import looped_dimensions

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    kept = {{}}

    def forward(self, x):
        {body}


def main():
    net = torch.compile(Net(){how})
    for count in (4, 5, 6):
        net(torch.ones(2, count, 3))


main()
"""
LOOPED = "sum(x[:, i] for i in range(x.shape[1]))"


@pytest.mark.parametrize(
    ("code", "dimensions"),
    [
        ("for row in x: pass", {0}),
        ("for i, row in enumerate(x.unbind(1)): pass", {1}),
        ("[f(a, b) for a, b in zip(y, x)]", {0}),
        ("b, n = x.shape\nfor i in range(1, n): pass", {1}),
        ("n = x.size(-1)\nfor i in range(n - 1): pass", {-1}),
        ("n = x.size(2)\nfor i in range(n - 1): pass", {2}),
        ("for i in range(len(x)): pass", {0}),
        ("for i in range(x.dim()): pass", set()),
        ("for i in range(y.shape[0]): pass", set()),
    ],
)
def test_dimensions_that_loops_go_over(code, dimensions):
    assert looped_dimensions(ast.parse(code), "x") == dimensions


@pytest.mark.parametrize(
    ("body", "how", "advice"),
    [
        (f"return {LOOPED}", "", "pad to a few fixed sizes"),
        (f"return {LOOPED}", ", dynamic=True", "pad to a few fixed sizes"),
        ("return sum(x[:, :, i] for i in range(x.shape[2]))", "", "write `torch._dynamo.mark"),
        ("return sum(x[:, :, i] for i in range(x.shape[2]))", ", dynamic=True", ""),
        ("return x * 2", ", dynamic=True", ""),
        ("self.kept[x.shape[1]] = x; return x + 1", "", "pad to a few fixed sizes"),
    ],
)
def test_each_size_that_a_loop_goes_over_is_a_version(body, how, advice, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(body=body, how=how)})
    sized = [f for f in result.findings if f.code == "BRK712"]
    assert len(sized) == bool(advice)
    assert all(f.help.startswith(advice) for f in sized)
