"""What stands behind a break that skips the function, under the condition of that break."""

import pytest
from programs import analysed, found

LAYERS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, is_first):
        super().__init__()
        self.rnn = torch.nn.LSTM(3, 3)
        self.is_first = is_first

    def forward(self, x, state=None):
        if isinstance(x, list):
            return self.rnn(x[0])
        else:
            made = self.rnn(x)[0]
        if {test}:
            made = self.rnn(made)[0]
        return made
"""


@pytest.mark.parametrize("test", ["state is None", "self.is_first"])
def test_a_second_break_of_a_skipped_function(test, tmp_path):
    result = analysed(tmp_path, {"net.py": LAYERS.format(test=test)})
    assert found(result) == [("BRK503", 12), ("BRK503", 14)]


def test_one_behind_a_break_that_another_condition_decides(tmp_path):
    source = LAYERS.format(test="state is None").replace("else:", "elif self.is_first:")
    source = source.replace("(x)[0]\n", "(x)[0]\n        else:\n            made = x\n")
    result = analysed(tmp_path, {"net.py": source})
    assert found(result) == [("BRK503", 12), ("BRK503", 14), ("BRK503", 18)]


MIXED = """\
import torch


class Mixed(torch.nn.Module):
    def __init__(self, mixes):
        super().__init__()
        self.mixes = mixes
        self.taken = [0, 1]

    def forward(self, x):
        states = [x, x + 1]
        if self.mixes:
            shares = torch.rand(2)
            return sum([states[i] * shares[i].item() for i in self.taken])
        {before}return sum([states[i] for i in self.taken])
"""


@pytest.mark.parametrize("before", ["", "else:\n            "])
def test_a_comprehension_that_the_condition_of_a_break_excludes(before, tmp_path):
    result = analysed(tmp_path, {"mixed.py": MIXED.format(before=before)})
    assert {line for _, line in found(result)} == {14}
