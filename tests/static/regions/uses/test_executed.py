"""Parameters that differ between calls where no call comes to what reads them: Dynamo has no guard on these."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Solver(torch.nn.Module):
    def __init__(self, verbose=False):
        super().__init__()
        self.verbose = verbose

    def forward(self, u, step):
        {first}
            u = u * step
        return u + 1


def main():
    advance = torch.compile(Solver())
    for step in range(5):
        advance(torch.ones(3), step)


main()
"""


@pytest.mark.parametrize(
    ("first", "lines"),
    [
        ("if self.verbose:", []),
        ("if u.shape[0] > 10:", []),
        ("if not self.verbose:", [11]),
        ("if self.verbose or step > 3:", [10]),
    ],
)
def test_what_no_call_comes_to_is_not_guarded(first, lines, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(first=first)})
    assert found(result) == [("BRK708", line) for line in lines]


def test_what_handles_an_error_is_not_guarded(tmp_path):
    source = PROGRAM.format(first="try:\n            u = u * 2\n        except ValueError:")
    assert found(analysed(tmp_path, {"program.py": source})) == []
