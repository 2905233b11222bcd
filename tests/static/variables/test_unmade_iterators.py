"""Iterators that Dynamo cannot make anew where a break comes while something goes over them."""

import pytest
from programs import analysed, found

SOURCE = """\
import itertools

import torch
from torch import nn


def halves(x):
    yield x
    yield x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.parts = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x, rows: dict[str, torch.Tensor]):
        found = [x.sum().item() for row in {over}]
        x = x + x.mean().item()
        return x, [x + n for n in found]
"""
# behind a break in the comprehension Dynamo goes on
GOES_ON = """\
[x, x]; (x, x); x; x.split(1); range(2); zip([x], [x]); map(torch.sin, [x]); reversed([x]); iter([x, x]); halves(x);
enumerate(range(2)); enumerate(self.layers); enumerate(rows.items()); list(rows.items()); sorted(rows.items());
(n for n in range(2)); (k for k in rows); enumerate(halves(x)); enumerate({1, 2}); itertools.product([x], [x])""".replace(
    "\n", " "
).split("; ")
# it skips the function, and the comprehension behind runs by itself
IS_SKIPPED = """\
enumerate([x, x]); enumerate(x); enumerate(x.split(1)); enumerate(zip([x], [x])); rows; rows.items(); rows.values();
rows.keys(); {1, 2}; self.layers; self.parts; zip(self.layers, [x, x]); zip(rows, [x, x]); enumerate(map(torch.sin, [x])); itertools.pairwise([x, x]); (y + 1 for y in [x, x]);
self.parts.children(); self.named_parameters(); itertools.islice([x, x], 1)""".replace(
    "\n", " "
).split("; ")


def lines_of(over, folder):
    return sorted(
        {line for _, line in found(analysed(folder, {"net.py": SOURCE.replace("{over}", over)}))}
    )


@pytest.mark.parametrize("over", GOES_ON)
def test_a_break_in_a_comprehension_over_what_is_made_anew(over, tmp_path):
    lines = lines_of(over, tmp_path)
    assert lines == [19, 20]


@pytest.mark.parametrize("over", IS_SKIPPED)
def test_a_break_in_a_comprehension_over_what_is_not(over, tmp_path):
    lines = lines_of(over, tmp_path)
    assert lines == [19, 21]


HANDED = """\
import itertools

import torch
from torch import nn


def total(x, rows):
    return x * {scale}


class Net(nn.Module):
    def forward(self, x, rows: dict[str, torch.Tensor]):
        x = x + 1
        return total(x, {given})
"""


@pytest.mark.parametrize(
    ("given", "scale", "is_skipped"),
    [
        ("self.parameters()", "x.sum().item()", True),
        ("self.named_buffers()", "x.sum().item()", True),
        ("enumerate([x, x])", "x.sum().item()", True),
        ("(x + n for n in [1, 2])", "x.sum().item()", True),
        ("rows=itertools.islice([x, x], 1)", "x.sum().item()", True),
        ("self.parameters()", "2", False),
        ("list(self.parameters())", "x.sum().item()", False),
        ("zip([x], [x])", "x.sum().item()", False),
        ("rows.items()", "x.sum().item()", False),
        ("enumerate(range(2))", "x.sum().item()", False),
    ],
)
def test_a_generator_handed_to_a_function_that_breaks(given, scale, is_skipped, tmp_path):
    source = HANDED.replace("{given}", given).replace("{scale}", scale)
    codes = [code for code, _ in found(analysed(tmp_path, {"net.py": source}))]
    assert ("BRK586" in codes) == is_skipped
    assert ("BRK201" in codes) == ("item" in scale)
