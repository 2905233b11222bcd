"""Tensors that a region keeps on its objects: what the next call finds there. Each program was measured under
torch 2.13."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        {first}

    def forward(self, x):
        y = self.linear(x)
        {then}
        return y


def main():
    net = torch.compile(Net())
    for _ in range(3):
        net(torch.ones(2, 3))
"""
BUFFER = 'self.register_buffer("kept", torch.zeros(()))'
ROWS = 'self.register_buffer("kept", torch.zeros(2, 3))'
PLAIN = "self.kept = torch.zeros(())"


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        # a module looks for a buffer before it sets it
        (BUFFER, "self.kept = y.mean()", [("BRK718", 13)]),
        (BUFFER, "self.kept = y.detach()", [("BRK707", 13)]),
        (BUFFER, "self.kept = y.detach().mean()", []),
        (BUFFER, "self.kept = self.kept * 0.5 + y.detach()", [("BRK707", 13)]),
        (
            'self.register_buffer("kept", torch.zeros(1, 3))',
            "self.kept = y.detach()",
            [("BRK712", 13)],
        ),
        (PLAIN, "self.kept = y.mean()", []),
        (PLAIN, "self.kept = y.detach()", []),
        (PLAIN, "self.kept = 0.9 * self.kept + y.mean()", [("BRK718", 13)]),
        ("self.kept = 0.0", "self.kept = self.kept + y.mean()", [("BRK720", 13)]),
        ("self.kept = 0.0", "self.kept = y.mean()", []),
        # what is written in place requires grad: so does the buffer from then on
        (ROWS, "self.kept.copy_(y)", [("BRK718", 13)]),
        (ROWS, "self.kept[:1] = y[:1]", [("BRK718", 13)]),
        (ROWS, "self.kept += y", [("BRK718", 13)]),
        (ROWS, "self.kept.copy_(y.detach())", []),
        (ROWS, "self.kept.copy_(x)", []),
        (ROWS, "self.kept.data.copy_(y)", []),
        (
            ROWS,
            "with torch.no_grad():\n            self.kept[0] = y[0]",
            [],
        ),
    ],
)
def test_a_tensor_that_is_kept(first, then, expected, tmp_path):
    source = PROGRAM.format(first=first, then=then)
    assert found(analysed(tmp_path, {"run.py": source})) == expected


METHOD = """\
import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def step(self, x):
        if self.cache is None:
            self.cache = torch.zeros(3)
        self.cache = self.cache + x
        return self.cache * 2


def main():
    step = torch.compile(Causal().step)
    for _ in range(3):
        step(torch.ones(3))
"""


def test_the_first_call_finds_what_objects_held_then(tmp_path):
    assert found(analysed(tmp_path, {"run.py": METHOD}))[0] == ("BRK707", 12)


NONE_FIRST = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def forward(self, x: torch.Tensor):
        y = x * 2
        {body}
        return y
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("if self.kept is None:\n            self.kept = 1.5", 12),
        ("if self.kept != x.dtype:\n            self.kept = x.dtype", 12),
        ("y = y if self.kept else y + 1\n        self.kept = 'seen'", 12),
        ("if not self.kept:\n            self.kept = x.shape[0] > 1", 12),
        ("if self.kept is None:\n            self.kept = (x, x.device)", 12),
        # set before it is read
        ("self.kept = x.device\n        y = y if self.kept is None else y + 1", 0),
        ("if self.training:\n            self.kept = 2\n        y = y + (self.kept or 1)", 0),
        # as it was when the call ends
        (
            "if self.kept is None:\n            y = y + 1\n        self.kept = y\n        self.kept = None",
            0,
        ),
    ],
)
def test_an_attribute_that_is_none_in_the_first_call(body, line, tmp_path):
    result = analysed(tmp_path, {"model.py": NONE_FIRST.format(body=body)})
    assert found(result) == ([("BRK707", line)] if line else [])


SEQUENCE = """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.state = None

    def reset(self):
        self.state = None

    def cell(self, x):
        if self.state is None:
            self.state = torch.zeros_like(x)
        self.state = self.state + self.linear(x)
        {extra}
        return self.state

    def forward(self, rows):
        {first}
        return torch.stack([self.cell(rows[0]), self.cell(rows[1])])


run = torch.compile(Cell())
run(torch.ones(2, 3, 4))
run(torch.ones(2, 3, 4))
"""


@pytest.mark.parametrize("first", ["self.state = None", "self.reset()"])
@pytest.mark.parametrize(("extra", "is_again"), [("pass", False), ("print('there')", True)])
def test_none_is_found_where_a_break_makes_the_reader_begin_a_graph(
    first, extra, is_again, tmp_path
):
    """Measured under torch 2.13: in one graph what was reset before is known to be None."""
    source = SEQUENCE.format(first=first, extra=extra)
    codes = [code for code, _ in found(analysed(tmp_path, {"run.py": source}))]
    assert ("BRK707" in codes) is is_again


CONFIGURED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, learned=False):
        super().__init__()
        self.learned = learned
        self.linear = nn.Linear(4, 4)
        self.kept = None

    def forward(self, x):
        if {test}:
            self.kept = self.linear.weight * 2
        {then}
        return x
"""


@pytest.mark.parametrize(
    ("test", "then", "expected"),
    [
        ("self.learned", "if self.learned: x = x @ self.kept", []),
        (
            "self.learned == 'yes' and not self.linear.bias",
            "if self.learned: x = x @ self.kept",
            [],
        ),
        ("self.learned == x.shape[0]", "if self.learned: x = x @ self.kept", [("BRK707", 14)]),
        ("self.training", "if self.kept is not None: x = x @ self.kept", [("BRK707", 14)]),
        ("x.shape[0] > 2", "if self.kept is not None: x = x @ self.kept", [("BRK707", 14)]),
    ],
)
def test_what_configuration_sets_is_set_in_every_call(test, then, expected, tmp_path):
    source = CONFIGURED.format(test=test, then=then)
    assert found(analysed(tmp_path, {"run.py": source})) == expected


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("self.state.next()", [("BRK701", "self.state.count")]),
        ("replace(self.state, count=self.state.count + 1)", [("BRK701", "self.state.count")]),
        ("replace(self.state, count=0)", []),
        ("State(self.state.limit, self.state.count)", []),
    ],
)
def test_number_of_an_object_that_another_takes_the_place_of(step, expected, tmp_path):
    source = f"""\
        from dataclasses import dataclass, replace
        import torch
        @dataclass(frozen=True)
        class State:
            limit: int = 3
            count: int = 0
            def next(self):
                return State(self.limit, self.count + 1)
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.state = State()
            def forward(self, x):
                y = x * self.state.count
                self.state = {step}
                return y
        def make():
            return Net(), (torch.ones(2, 3),), {{}}
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert [(f.code, f.message.split("`")[1]) for f in result.findings] == expected
