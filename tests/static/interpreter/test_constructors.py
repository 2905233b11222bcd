"""Modules that are made inside a region: where Dynamo begins with `__init__` itself.

Dynamo of torch 2.13.0 reports GB0119 at exactly these lines."""

import pytest
from programs import analysed, found

SOURCE = """\
import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = w

    def forward(self, x):
        return x * self.w


class Low(Plain):
    def __init__(self, w):
        w = w * 2
        super().__init__(w)
        print("made")


class Early(nn.Module):
    def __init__(self, w):
        self.early = w
        super(Early, self).__init__()
        self.inner = Plain(w)
        print("made")

    def forward(self, x):
        return self.inner(x)


def region(x):
{body}


def make():
    return region, (torch.ones(3),), {{}}
"""
BREAK = "    if x.sum() > 0:\n        x = x + 1\n"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("    return Plain(2.0)(x)", []),
        (f"{BREAK}    return Plain(2.0)(x)", []),  # traced behind the break
        (
            "    for _ in range(2):\n        x = x + x.sum().item()\n        x = Plain(2.0)(x)\n    return x",
            [7],
        ),
        (  # a break behind it leaves all of the function to Python
            "    made = Plain(2.0)\n    for _ in range(2):\n        x = x + x.sum().item()\n    return made(x)",
            [7],
        ),
        (  # but not what stands before a break that is resumed
            f"    made = Plain(2.0)\n{BREAK}    for _ in range(2):\n        x = x + x.sum().item()\n    return made(x)",
            [],
        ),
        ("    return Low(2.0)(x)", [7, 17]),  # of the parent, too
        ("    return Early(2.0)(x)", [7, 23]),  # of the module inside, too
    ],
)
def test_a_constructor_that_is_run_by_python_cannot_be_traced(body, lines, tmp_path):
    result = analysed(tmp_path, {"program.py": SOURCE.format(body=body)}, "program.py::make")
    assert [line for code, line in sorted(found(result)) if code == "BRK560"] == lines


def test_a_constructor_is_begun_with_whoever_else_traces_it_before(tmp_path):
    source = SOURCE.format(
        body="    x = traced(x)\n    for _ in range(2):\n        x = x + x.sum().item()\n        x = Plain(2.0)(x)\n    return x"
    )
    source += "\n\ndef traced(x):\n    return Plain(2.0)(x)\n"
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert [line for code, line in sorted(found(result)) if code == "BRK560"] == [7]


@pytest.mark.parametrize(
    ("kept", "lines"),
    [
        ("3", [6]),
        ("None", [6]),
        ("torch.eye(3)", []),
    ],
)
def test_what_computes_before_the_break_is_compiled(kept, lines, tmp_path):
    """Dynamo compiles up to the call that it cannot resume from, the constructor with it, where there is
    an operation to compile."""
    source = f"""import torch


class Helper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {kept}

    def compute(self, x):
        return torch.nonzero(x)


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        helper = Helper()
        rows = helper.compute(x)
        return rows
"""
    result = analysed(tmp_path, {"net.py": source})
    assert [line for code, line in found(result) if code == "BRK560"] == lines
    assert ("BRK558", 16) in found(result)


def test_a_break_in_a_constructor_leaves_the_rest_of_it_to_python(tmp_path):
    """The first break is met from the function that makes the module; behind it Python calls `__init__`,
    which Dynamo gives up, and only the functions that it calls are looked at again."""
    source = """import torch
from torch import nn


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        print("two layers")
        self.add()

    def add(self):
        self.scale = nn.Parameter(torch.zeros(4))
        self.shift = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.second(self.first(x)) * self.scale + self.shift


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers()
        self.last = nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.layers(x))


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return Around()(x) + 1
"""
    result = analysed(tmp_path, {"net.py": source})
    assert sorted(found(result)) == [
        ("BRK517", 8),
        ("BRK517", 14),
        ("BRK517", 15),
        ("BRK560", 7),
        ("BRK560", 23),
    ]
