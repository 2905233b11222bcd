"""A dict that has the key already gains none: what reads an item of a plain dict, or asserts that it is there, shows it
(torch 2.13)."""

import textwrap

import pytest
from programs import analysed, found

PROGRAM = """\
import collections
import torch

class Average:
    def __init__(self, model):
        self.model = model
        self.kept = {made}

    def update(self):
        for name, weight in self.model.named_parameters():
{body}

average = Average(torch.nn.Linear(3, 1))
update = torch.compile(average.update)
for _ in range(3):
    update()
"""
FILLED = "{name: weight.clone() for name, weight in model.named_parameters()}"
CASES = {
    "read in the same statement": (
        FILLED,
        "self.kept[name] = 0.9 * self.kept[name] + weight.detach()",
        [],
    ),
    "read before": (FILLED, "old = self.kept[name]\nself.kept[name] = old + weight.detach()", []),
    "asserted": (FILLED, "assert name in self.kept\nself.kept[name] = weight.detach()", []),
    "added to": (FILLED, "self.kept[name] += weight.detach()", []),
    "read where it is there": (
        "{}",
        "self.kept[name] = self.kept[name] + weight if name in self.kept else weight.detach()",
        [11],
    ),
    "of what makes what is missing": (
        "collections.defaultdict(float)",
        "self.kept[name] = self.kept[name] + weight.detach()",
        [11],
    ),
    "another item": ("{}", "self.kept[name] = self.kept.get(name, 0) + weight.detach()", [11]),
}


@pytest.mark.parametrize(("made", "body", "lines"), CASES.values(), ids=CASES)
def test_an_item_that_is_stored(made, body, lines, tmp_path):
    source = PROGRAM.format(made=made, body=textwrap.indent(body, " " * 12))
    result = analysed(tmp_path, {"program.py": source})
    assert [place for place in found(result) if place[0] == "BRK704"] == [
        ("BRK704", n) for n in lines
    ]
