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
