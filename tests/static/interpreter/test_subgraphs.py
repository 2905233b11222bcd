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


@pytest.mark.parametrize(
    ("made", "change"),
    [
        ("[x]", "given.append(y)"),
        ("[2, 1]", "given.sort()"),
        ("[1]", "given[0] = y"),
        ("[1]", "del given[0]"),
        ("{'k': x}", "given['k'] = y"),
        ("{'k': x}", "del given['k']"),
        ("set()", "given.add(1)"),
        ("Box()", "given.n = 1"),
        ("Box()", "del given.n"),
    ],
)
@pytest.mark.parametrize("how", ["closure", "argument"])
def test_what_a_region_made_is_changed_under_a_checkpoint(made, change, how, tmp_path):
    more = "" if how == "closure" else ", given"
    body = f"""\
    given = {made}
    def block(y{more}):
        {change}
        return y
    return checkpoint(block, x{more}, use_reentrant=False)
"""
    box = "class Box:\n    n = 0\n\n\n"
    result = found(analysed(tmp_path, {"run.py": HEAD.replace("@torch", box + "@torch") + body}))
    assert result == [("BRK613", 13)]


def test_what_a_checkpointed_function_makes_itself_may_change(tmp_path):
    body = """\
    def block(y):
        given = {"k": [1, 2]}
        del given["k"][0]
        given["k"][0] = y
        given["l"] = y
        return y
"""
    assert found(analysed(tmp_path, {"run.py": HEAD + body + RUN + "\n"})) == []


@pytest.mark.parametrize(
    ("change", "is_another"),
    [
        ("self.n = 1", True),
        ("self.n += 1", True),
        ("self.n = 0", False),
        ("self.n = 1; self.n = 0", False),
        ("self.n = x.shape[0]", True),
        ("self.n = None", True),
    ],
)
def test_a_plain_value_is_another_behind_the_checkpoint(change, is_another, tmp_path):
    net = f"""\
import torch
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def block(self, x):
        {change}
        return x

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)
"""
    found_here = found(analysed(tmp_path, {"run.py": net}))
    assert [place for place in found_here if place[0] == "BRK613"] == [("BRK613", 15)] * is_another
