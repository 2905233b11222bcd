"""A number that the caller may give, and that is drawn where it does not: Dynamo of torch 2.13.0 keeps the drawn one in
the graph, and ends it where torch needs a size (GB0033 at `repeat`, nothing behind it)."""

from programs import analysed, found

SOURCE = """import random

import torch


class Mixer(torch.nn.Module):
    def forward(self, styles: torch.Tensor, at=None):
        if at is None:
            at = random.randint(1, 4)
        first = styles[0].unsqueeze(1).repeat(1, at, 1)
        second = styles[1].unsqueeze(1).repeat(1, 5 - at, 1)
        return torch.cat([first, second], 1)
"""


def test_the_first_size_ends_the_graph_where_the_number_is_drawn(tmp_path):
    result = analysed(tmp_path, {"mixer.py": SOURCE})
    assert found(result) == [("BRK410", 10)]
    assert [finding.condition for finding in result.findings] == ["at is None"]
