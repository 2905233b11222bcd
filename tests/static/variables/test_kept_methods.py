"""Methods of built-in types that a variable keeps: Dynamo calls those only that the region names."""

import pytest
from programs import analysed, seen

KEPT = {
    "self.tokenizer(text)": True,
    "LOWER(text)": True,
    "list(map(LOWER, [text]))": True,
    "sorted([text], key=LOWER)": True,
    "str.lower(text)": False,
    "list(map(str.lower, [text]))": False,
    "method = str.lower; method(text)": False,
    "split(text)": True,
    "MAKE([text])": False,  # a method of a class is traced
    "BOUND([text])": False,
    "ROOT(4)": False,
}


@pytest.mark.parametrize(("call", "ends"), KEPT.items())
def test_a_method_that_is_kept(call, ends, tmp_path):
    text = f"""\
import math

import torch

LOWER, MAKE, BOUND, ROOT = str.lower, dict.fromkeys, "".join, math.sqrt


class Net(torch.nn.Module):
    def __init__(self, tokenizer=str.split):
        super().__init__()
        self.tokenizer = tokenizer

    def forward(self, x: torch.Tensor, text: str, split=str.split):
        {call}
        return x * 2
"""
    found = [("BRK599", 14)] if ends else []
    assert seen(analysed(tmp_path, {"net.py": text})) == found
