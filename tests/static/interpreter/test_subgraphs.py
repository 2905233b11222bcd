"""What a function under a checkpoint changes: only what was there before it ends the graph."""

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch.utils.checkpoint import checkpoint


@torch.compile
def step(x):
"""
RUN = "    return checkpoint(block, x, use_reentrant=False)"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    w = 1\n    def block(x):\n        nonlocal w\n        w = x\n        return x\n" + RUN, 10),
        (
            "    w = 1\n    def block(x):\n        def inner():\n            nonlocal w\n            w = x\n"
            "        inner()\n        return x\n" + RUN,
            11,
        ),
        (
            "    def block(x):\n        w = 1\n        def inner():\n            nonlocal w\n            w = x\n"
            "        inner()\n        return w\n" + RUN,
            None,
        ),
        ("    w = 1\n    def block(x):\n        nonlocal w\n        w = x\n        return w\n    return block(x)", None),
    ],
)  # fmt: skip
def test_a_variable_of_the_checkpointed_function_is_its_own(body, line, tmp_path):
    result = found(analysed(tmp_path, {"run.py": HEAD + body + "\n"}))
    assert result == ([("BRK613", line)] if line else [])
