"""Functions under the decorator `deprecated`, which warns in each call of them."""

import sys

import pytest
from programs import analysed, found

SINCE_313 = pytest.mark.skipif(sys.version_info < (3, 13), reason="not in `warnings` yet")

PROGRAM = """\
import torch
from {module} import deprecated


@deprecated("write `double`"{more})
def twice(x):
    return x * 2


class Net(torch.nn.Module):
    @deprecated("write `double`"{more})
    def scaled(self, x):
        return x * 3

    def forward(self, x: torch.Tensor):
        return twice(x) + (
            self.scaled(x)
        )
"""


@pytest.mark.parametrize(
    ("module", "more", "lines"),
    [
        ("typing_extensions", "", [16, 17]),
        pytest.param("warnings", "", [16, 17], marks=SINCE_313),
        ("typing_extensions", ", category=FutureWarning", [16, 17]),
        ("typing_extensions", ", category=None", []),
        ("of_ours", "", []),
    ],
)
def test_each_call_of_it_ends_the_graph(module, more, lines, tmp_path):
    files = {
        "net.py": PROGRAM.format(module=module, more=more),
        "of_ours.py": "def deprecated(message):\n    return lambda function: function\n",
    }
    result = analysed(tmp_path, files)
    assert found(result) == [("BRK403", line) for line in lines]
