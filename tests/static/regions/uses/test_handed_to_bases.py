"""Parameters that a method hands to the method of a base, which says what they are."""

import pytest
from programs import analysed, found

SOURCE = '''\
from torch import nn


class Loss(nn.Module):
    def forward(self, x, is_real):
        """{text}"""
        return x.mean() if is_real else {other}


class ManyLosses(Loss):
    def forward(self, x, is_real):
        loss = 0
        for part in x:
            loss = loss + super().forward(part, is_real)
        return loss
'''


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("is_real (bool): whether it is.", "is_real * x", []),
        ("Nothing is said.", "-x.mean()", []),  # a flag: it is only asked whether it holds
        ("Nothing is said.", "is_real * x", [("BRK101", 7)]),
    ],
)
def test_what_a_base_takes_it_for(text, other, expected, tmp_path):
    source = SOURCE.format(text=text, other=other)
    assert found(analysed(tmp_path, {"net.py": source})) == expected
