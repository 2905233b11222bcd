"""Hooks that are put on in a constructor: where a test there decides on it, a call of the module does
not certainly run them."""

import pytest
from programs import analysed

SOURCE = """import torch
from options import wanted
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 3)
        {register}

    def mark(self):
        def make_leaf(module, given, output):
            output.requires_grad_(True)

        self.embed.register_forward_hook(make_leaf)

    def forward(self, x):
        return self.embed(x * 2)
"""
CASES = {  # how the hook's line is reached: through `forward`, or only as the hook that it is
    "self.mark()": ["Net.forward"],
    "if wanted():\n            self.mark()": [],
    "self.embed.register_forward_pre_hook(print)": [],
}


@pytest.mark.parametrize("register", CASES)
def test_hooks_of_a_constructor(register, tmp_path):
    result = analysed(tmp_path, {"program.py": SOURCE.format(register=register)})
    (finding,) = [f for f in result.findings if f.code == "BRK605"]
    assert [link.function for link in finding.chain] == CASES[register]
    assert result.gaps == ()
