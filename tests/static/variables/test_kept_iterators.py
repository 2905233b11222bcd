"""Iterators and views that a module keeps from before. Dynamo of torch 2.13.0 ends the graph where a break is
expected (GB0811, GB4347, GB6012), and nowhere else."""

import pytest
from programs import analysed, found

MADE = {
    "{'a': 1}.values()": True,
    "{'a': 1}.items()": True,
    "torch.nn.ModuleDict({'a': torch.nn.ReLU()}).values()": True,
    "zip([1], [2])": True,
    "enumerate([1])": True,
    "map(int, [1])": True,
    "reversed([1])": True,
    "iter([1])": True,
    "iter({1})": True,
    "itertools.product([1], [2])": True,
    "itertools.repeat(1, 2)": True,
    "numbers()": True,
    "{'a': 1}.keys()": False,
    "iter((1,))": False,
    "iter(range(2))": False,
    "iter(torch.ones(3))": False,
    "[1]": False,
    "range(3)": False,
}
PROGRAM = """\
import itertools; import torch


def numbers():
    yield 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {made}

    def forward(self, x: torch.Tensor):
        {use}
        return x + 1
"""


@pytest.mark.parametrize(("made", "breaks"), MADE.items())
@pytest.mark.parametrize(
    "use",
    [
        "for _ in self.kept:\n            x = x * 2",
        "y = [x for _ in self.kept]",
        "y = tuple(self.kept)",
        "for _ in zip(self.kept, [1]):\n            x = x * 2",
        "y = set(self.kept)",
        "y = tuple(itertools.islice(self.kept, 1))",
        "y = [*enumerate(self.kept)]",
        "y = []; y.extend(self.kept)",
    ],
)
def test_what_is_gone_over(made, use, breaks, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made=made, use=use)})
    assert found(result) == ([("BRK579", 14)] if breaks else [])


@pytest.mark.parametrize(
    ("made", "code"),
    [("iter([1])", "BRK579"), ("numbers()", "BRK579"), ("iter((1,))", "BRK703")],
)
def test_the_next_item(made, code, tmp_path):
    result = analysed(
        tmp_path, {"net.py": PROGRAM.format(made=made, use="x = x * next(self.kept)")}
    )
    assert found(result) == [(code, 14)]


def test_an_iterator_that_the_region_makes(tmp_path):
    use = "self.kept = zip([1], [2])\n        for a, b in self.kept:\n            x = x * a"
    assert found(analysed(tmp_path, {"net.py": PROGRAM.format(made="None", use=use)})) == []


HELD = """\
import torch


def both(*parts):
    return parts


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        held = {made}
        n = x.sum().item()
        {use}
        y = x.nonzero()
        return y * n
"""
HELD_USES = {
    "for _ in held:\n            x = x * 2": [("BRK579", 12)],
    "y = [x for _ in held]": [("BRK579", 12)],
    "a, b = held": [("BRK579", 12)],
    "y = [*held]": [("BRK579", 12)],
    "y = both(1, *held)": [("BRK579", 12)],
    "y = both(*held)": [("BRK579", 12), ("BRK301", 13)],
    "y = list(held)": [("BRK579", 12), ("BRK301", 13)],
    "y = both(held)": [("BRK301", 13)],
}


@pytest.mark.parametrize("made", ["zip([1], [2])", "map(int, [1])", "{'a': 1}.items()"])
@pytest.mark.parametrize(("use", "expected"), HELD_USES.items())
def test_what_was_made_before_a_break(made, use, expected, tmp_path):
    """`for`, comprehensions and unpacking leave the rest of the function to Python; a call resumes."""
    result = analysed(tmp_path, {"net.py": HELD.format(made=made, use=use)})
    shown = [(code, line) for code, line in found(result) if code != "BRK201"]
    behind = line_behind(use)
    assert shown == [(code, line if line == 12 else behind) for code, line in expected]


def line_behind(use: str) -> int:
    return 13 + use.count("\n")


@pytest.mark.parametrize("made", ["[1, 2]", "{'a': 1}.keys()", "list(zip([1], [2]))", "range(2)"])
def test_what_dynamo_makes_anew_behind_a_break(made, tmp_path):
    use = "for _ in held:\n            x = x * 2"
    result = analysed(tmp_path, {"net.py": HELD.format(made=made, use=use)})
    assert "BRK579" not in {code for code, _ in found(result)}


def test_what_is_made_and_used_before_a_break(tmp_path):
    use = "y = list(zip([1], [2]))"
    result = analysed(tmp_path, {"net.py": HELD.format(made="list(zip([1], [2]))", use=use)})
    assert "BRK579" not in {code for code, _ in found(result)}
