"""A tensor of which nothing is known is a mask where its name says so, as it is and as a view or a part of it."""

import pytest
from programs import analysed, found

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, mask, rows):
        return x[{index}]
"""


@pytest.mark.parametrize(
    "index",
    [
        "mask",
        "mask.view(-1)",
        "mask.unsqueeze(-1).expand_as(x)",
        "mask[0]",
        "mask[:, 1].flatten(), 0",
    ],
)
def test_the_size_of_what_a_mask_takes_depends_on_its_values(index, tmp_path):
    assert found(analysed(tmp_path, {"net.py": NET.format(index=index)})) == [("BRK302", 7)]


@pytest.mark.parametrize(
    "index",
    ["rows", "rows.view(-1)", "mask.long().view(-1)", "mask.argmax(-1)", "rows[mask_at(0)]"],
)
def test_rows_are_no_mask(index, tmp_path):
    source = NET.format(index=index) + "\n\ndef mask_at(n):\n    return n\n"
    assert found(analysed(tmp_path, {"net.py": source})) == []
