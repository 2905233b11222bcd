"""Numbers of NumPy's that an attribute holds, computed with in a region: which of them Python can read without a break
was measured under torch 2.13.0."""

import pytest
from programs import analysed, found

SOURCE = """import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = np.float64(0.5)
        self.other = np.mean([1.0, 2.0])

    def forward(self, x: torch.Tensor):
        {body}
"""


def flagged(tmp_path, *lines):
    result = analysed(tmp_path, {"net.py": SOURCE.format(body="\n        ".join(lines))})
    return {code: finding for (code, _), finding in zip(found(result), result.findings)}


@pytest.mark.parametrize(
    "lines",
    [
        ("return x * float(np.sqrt(self.n))",),
        ("return x * int(np.ceil(self.other))",),
        ("return x * float(np.maximum(self.n, 1.0))",),
        ("return x * float(self.n + 1)",),
        ("self.n = self.n + 1", "return x * float(self.n)"),
        ("n = 1.0", "n += self.n", "return x * float(n)"),
    ],
)
def test_what_is_computed_of_it_is_an_array_that_is_read(lines, tmp_path):
    assert set(flagged(tmp_path, *lines)) == {"BRK210"}


@pytest.mark.parametrize(
    "lines",
    [
        ("return x * np.sqrt(self.n)",),
        ("return x * float(self.n)",),
        ("n = self.n", "n *= 2", "n -= 1", "return x * float(n)"),
        ("n = self.n", "n += self.other", "return x * float(n)"),
        ("n = self.n", "n += x.shape[0]", "return x * float(n)"),
    ],
)
def test_it_is_read_as_it_is_and_where_a_statement_counts_it_on(lines, tmp_path):
    assert flagged(tmp_path, *lines) == {}


def test_the_message_names_the_attribute(tmp_path):
    finding = flagged(tmp_path, "self.n = self.n + 1", "return x * float(self.n)")["BRK210"]
    assert "from the array `self.n`" in finding.message
