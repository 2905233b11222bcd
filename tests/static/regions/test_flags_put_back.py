"""Flags that a region sets and puts back: the next call finds what the first one found. Measured under torch 2.13."""

from programs import analysed, found

PROGRAM = """\
import torch


class Flag:
    def __init__(self):
        self.active = False

    def enter(self, given):
        self.active = True

    def leave(self, token):
        if self.active or token is None:
            self.active = False


FLAG = Flag()


class Whole(torch.nn.Module):
    def __init__(self, is_kept=False):
        super().__init__()
        self.is_kept = is_kept

    def forward(self, x, y):
        if self.is_kept:
            FLAG.enter([x])
            x = x * 2
            FLAG.leave(None)
            FLAG.enter({{"y": y}})
            y = y * 2
            {last}
        return x + y
"""


def test_a_flag_that_an_equal_call_puts_back_a_second_time(tmp_path):
    result = analysed(tmp_path, {"flags.py": PROGRAM.format(last="FLAG.leave(None)")})
    assert found(result) == []


def test_a_flag_that_is_left_set(tmp_path):
    result = analysed(tmp_path, {"flags.py": PROGRAM.format(last="pass")})
    assert found(result) == [("BRK706", 9)]
