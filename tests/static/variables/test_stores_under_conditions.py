"""What an attribute was before a store is what it may be where the store happens."""

import pytest
from programs import analysed, found

SHIFTED = """\
import torch


class Shift(torch.nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.bits = bits
        self.is_open = bits > 4
        if self.is_open:
            self.by = None
        else:
            self.by = torch.arange(bits)

    def forward(self, x):
        if {test}:
            if {moved}:
                self.by = torch.arange(self.bits, device=x.device)
            x = x + self.by
        return x
"""


@pytest.mark.parametrize(
    ("test", "moved", "lines"),
    [
        ("not self.is_open", "self.by.device != x.device", []),
        ("self.is_open", "self.by is None", [17]),
        ("True", "self.by is None", [17]),
    ],
)
def test_none_under_another_condition(test, moved, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": SHIFTED.format(test=test, moved=moved)})
    assert found(result) == [("BRK707", line) for line in lines]


FLAG = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, export=0):
        super().__init__()
        self.export = export
        self.seen = 0

    def forward(self, x):
        self.seen {sign}= self.export
        return x * self.seen
"""


@pytest.mark.parametrize(("sign", "is_shown"), [("+", True), ("|", False), ("&", False)])
def test_a_flag_that_is_set_again_is_the_same(sign, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": FLAG.format(sign=sign)})
    assert (("BRK701", 11) in found(result)) == is_shown
