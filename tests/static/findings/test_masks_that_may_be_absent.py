"""Two masks of which one may be None are of two types only where it is given."""

import pytest
from programs import analysed

SOURCE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x, padding=None):
        mask = torch.triu(torch.full((3, 3), float("-inf")), diagonal=1)
        {first}
        return self.attention(x, x, x, {padding}, attn_mask=mask)[0]
"""
GIVEN = "if padding is not None: padding = padding.bool()"


@pytest.mark.parametrize(
    ("first", "padding", "condition"),
    [
        (GIVEN, "padding", "padding is not None"),
        (GIVEN, "key_padding_mask=padding", "padding is not None"),
        ("padding = x[..., 0] == 0", "padding", ""),
    ],
)
def test_the_condition_names_the_mask_that_may_be_none(first, padding, condition, tmp_path):
    source = SOURCE.format(first=first, padding=padding)
    (finding,) = analysed(tmp_path, {"net.py": source}).findings
    assert (finding.code, finding.line, finding.condition) == ("BRK580", 13, condition)
