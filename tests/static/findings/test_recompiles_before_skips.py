"""A function that is compiled up to a break is compiled again for other arguments, though the rest of it is
left to Python; one that is skipped as a whole is not."""

import pytest
from programs import analysed, found

HEAD = """\
import torch
@torch.compile
def step(x, n):
    y = x * n
"""
CALLS = "step(torch.ones(3), 1.5)\nstep(torch.ones(3), 2.5)\n"
SKIPS = "    for _ in range(2):\n        print(1)\n    return y\n"


@pytest.mark.parametrize(
    ("body", "recompiles"),
    [
        ("    print(1)\n" + SKIPS, True),
        ("    k = x.sum()\n    return y[: k.int()]\n", True),
        (SKIPS, False),
    ],
    ids=["behind another break", "up to the break", "as a whole"],
)
def test_recompiles(body, recompiles, tmp_path):
    codes = found(analysed(tmp_path, {"run.py": HEAD + body + CALLS}))
    assert (("BRK709", 4) in codes) is recompiles
