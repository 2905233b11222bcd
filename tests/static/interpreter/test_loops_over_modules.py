"""A break behind which a loop's function returns: Dynamo goes on behind it, unless it cannot make the loop's iterator
anew."""

import pytest
from programs import analysed

SOURCE = """\
import torch
from torch import nn


class Exits(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.heads = nn.ModuleDict({{"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)}})
        self.scales = {{"a": 1.0, "b": 2.0}}

    def forward(self, x):
        for part in {over}:
            x = x + 1
            if x.sum() > 3:
                return x
        return x
"""


@pytest.mark.parametrize(
    "over",
    [
        "self.blocks",
        "self.blocks[1:]",
        "zip(self.blocks, range(3))",
        "map(id, self.blocks)",
        "self.heads",
        "self.heads.items()",
        "self.scales.values()",
        "{1, 2}",
        "enumerate([x, x])",
        "self.children()",
        "(y for y in [x, x])",
    ],
)
def test_a_loop_whose_iterator_is_not_made_anew(over, tmp_path):
    (finding,) = analysed(tmp_path, {"exits.py": SOURCE.format(over=over)}).findings
    assert (finding.code, finding.lost) == ("BRK101", "loop")


@pytest.mark.parametrize(
    "over",
    ["range(3)", "enumerate(self.blocks)", "reversed(self.blocks)", "[x, x]", "zip([x], [x])"],
)
def test_a_loop_whose_iterator_is_made_anew(over, tmp_path):
    (finding,) = analysed(tmp_path, {"exits.py": SOURCE.format(over=over)}).findings
    assert (finding.code, finding.lost) == ("BRK101", "")
