"""A number that a region counts on: how often torch 2.13.0 compiles it for that."""

import pytest
from programs import analysed

SOURCE = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: torch.Tensor):
        if {test}:
            self.count += 1
        return x * 2
"""


@pytest.mark.parametrize(
    ("test", "often"),
    [
        ("self.count == 0", "once more"),  # two graphs in four calls
        ("self.count >= 0", "in every call"),  # as many as calls, to the limit
    ],
)
def test_the_message_says_how_often(test, often, tmp_path):
    result = analysed(tmp_path, {"net.py": SOURCE.format(test=test)})
    [finding] = [f for f in result.findings if f.code == "BRK701"]
    assert finding.message.endswith(f"so it is compiled {often}")
