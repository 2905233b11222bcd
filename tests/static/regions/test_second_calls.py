"""What only the second call of a module comes to, by what the first one left on it. Each program was measured
under torch 2.13."""

import pytest
from programs import analysed, found

HEAD = "import torch\nfrom torch import nn\n\n\n"
CACHED = """\
class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.module = nn.Linear(3, 3)
        self.given = None

    def is_void(self, x):
        return self.given is None or not torch.equal(self.given, x)

    def forward(self, x):
        if self.is_void(x):
            self.given = x
            self.made = self.module(x)
        return self.made
"""
STARTED = """\
class Started(nn.Module):
    def __init__(self):
        super().__init__()
        self.is_ready = False

    def forward(self, x):
        if not self.is_ready:
            self.is_ready = True
            return x * 2
        return x.relu() if x.sum() > 0 else x
"""
FRESH = """\
class Fresh(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = None

    def forward(self, x):
        self.seen = x
        if self.seen is None:
            print(x)
        return self.seen * 2
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CACHED, [("BRK309", 12), ("BRK707", 16)]),
        (STARTED, [("BRK101", 14)]),
        (FRESH, []),
    ],
)
def test_what_the_second_call_comes_to(source, expected, tmp_path):
    seen = found(analysed(tmp_path, {"run.py": HEAD + source}))
    assert [one for one in seen if one[0] != "BRK706"] == expected
