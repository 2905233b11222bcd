"""Functions that Dynamo compiles by themselves because of a break: what differs between all the calls that a program's
regions make of them. Each program was measured under torch 2.13: it compiles again for what is marked, and for nothing
else."""

import re
import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


"""
PROGRAMS = {
    "the mode of the gradients in one of two regions": """
        def note(value):
            scaled = value * 2  # BRK718
            print("there")
            return scaled

        @torch.compile(backend="eager")
        def train(x):
            return note(x + 1)

        @torch.compile(backend="eager")
        def evaluate(x):
            return note(x - 1)

        train(torch.randn(4))
        with torch.no_grad():
            evaluate(torch.randn(4))
        """,
    "a stack of contexts that only some calls enter": """
        import contextlib

        def note(value):
            return (value * 2).relu()  # BRK718

        @torch.compile(backend="eager")
        def run(x, tracked):
            with contextlib.ExitStack() as stack:
                if not tracked:
                    stack.enter_context(torch.no_grad())
                y = note(x + 1)
            return y

        weights = torch.randn(4, requires_grad=True)
        for _ in range(3):
            run(weights, False)
            run(weights, True)
        """,
    "numbers in a call that is not the first": """
        def act(x, by):
            print("there")
            return x.tanh() * by  # BRK708

        class Net(nn.Module):
            def forward(self, x, targets=None):
                y = x * 2
                if targets is not None:  # BRK711
                    return y - targets
                return act(act(y, 2), 3)

        net = torch.compile(Net(), backend="eager")
        net(torch.randn(4), torch.randn(4))
        net(torch.randn(4))
        """,
    "items of a tuple that the module has": """
        def act(x, by):
            print("there")
            return x.tanh() * by  # BRK708

        class Net(nn.Module):
            def __init__(self, sizes=(5, 7)):
                super().__init__()
                self.sizes = sizes
                self.layers = nn.ModuleList([nn.Identity(), nn.Identity()])

            def forward(self, x):
                for layer, size in zip(self.layers, self.sizes):
                    x = act(layer(x), size - 1)
                return x

        with torch.no_grad():
            torch.compile(Net(), backend="eager")(torch.randn(4))
        """,
    "a break that a flag decides on": """
        class Observer(nn.Module):
            def __init__(self):
                super().__init__()
                self.enabled = True

            def forward(self, x):
                y = x * 2  # BRK712
                if self.enabled:
                    print("there")
                return y

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.observe = Observer()

            def forward(self, x):
                return self.observe(x).sum() + self.observe(x[:, :2]).sum()

        torch.compile(Net(), backend="eager")(torch.randn(2, 5))
        """,
    "parameters of layers that are derived from torch's, and other tensors": """
        def show(x):
            print("there")
            return x * 2  # BRK712 BRK720

        class Scaled(nn.Linear):
            def __init__(self, before, after):
                super().__init__(before, after)
                self.by = 2

            def forward(self, x):
                return F.linear(show(x), show(self.weight))

        torch.compile(Scaled(4, 8), backend="eager")(torch.randn(2, 4))
        """,
    "a number that is read before a break, and changed behind it": """
        class Scaler:
            def __init__(self):
                self.scale = 1024.0

            def unscale(self, x):
                return x / self.scale

            def update(self, worst):
                if worst > 0:
                    self.scale /= 2.0  # BRK701

        scaler = Scaler()

        @torch.compile(backend="eager")
        def finish(x):
            worst = scaler.unscale(x).max()
            scaler.update(worst)

        for _ in range(3):
            finish(torch.rand(4) + 1)
        """,
    "a number that numpy draws": """
        @torch.compile(backend="eager")
        def mix(x):
            by = np.random.beta(0.2, 0.2)  # BRK730
            return by * x

        for _ in range(3):
            mix(torch.randn(4))
        """,
    "rows that are put where others were": """
        @torch.compile(backend="eager")
        def swap(x, y):
            mask = x > 0
            x = x.clone()
            x[mask] = y[mask]  # BRK731
            return x

        for _ in range(3):
            swap(torch.randn(40), torch.randn(40))
        """,
    "rows of a tensor beside dicts of a list": """
        def match(row, labels):
            print("there")
            return row.sum() * labels.float()  # BRK712

        @torch.compile(backend="eager")
        def loss(rows, targets):
            total = 0
            for row, target in zip(rows, targets):
                total = total + match(row, target["labels"]).sum()
            return total

        loss(torch.randn(2, 4), [{"labels": torch.arange(n)} for n in (2, 3)])
        """,
    "a number that a test takes for nothing, though numbers are dynamic": """
        def step(x, temperature):
            if temperature > 0:  # BRK709
                return x / temperature
            return x * 2

        fast = torch.compile(step, backend="eager", dynamic=True)
        for temperature in (0.0, 0.4, 0.8):
            fast(torch.randn(4), temperature)
        """,
    "numbers of a list that names share": """
        @torch.compile(backend="eager")
        def step(x):
            a, b = x[:2].tolist()  # BRK730
            rest = (x * 2).tolist()
            return a, b, rest

        for _ in range(3):
            step(torch.randn(4))
        """,
}
QUIET = {
    "a number that only decides on an error": """
        @torch.compile(backend="eager")
        def robust(x):
            loss = x.pow(2).mean()
            value = float(loss)
            if value > 1e4:
                raise FloatingPointError(f"diverged: {value}")
            return loss

        for _ in range(3):
            robust(torch.randn(4))
        """,
    "numbers other than nothing, where numbers are dynamic": """
        def step(x, temperature):
            if temperature > 0:
                return x / temperature
            return x * 2

        fast = torch.compile(step, backend="eager", dynamic=True)
        for temperature in (0.4, 0.8):
            fast(torch.randn(4), temperature)
        """,
    "what only Python looks at behind the break": """
        class Board:
            def __init__(self):
                self.rows = {}

            def log(self, name, value):
                number = value.mean().item()
                self.rows[name] = number

        board = Board()

        @torch.compile(backend="eager")
        def step(x):
            board.log("a", x * 2)
            board.log("b", x * 3)

        step(torch.randn(4))
        """,
    "one region leaves it to Python, and the other takes it into its graph": """
        def act(x, by):
            return x.tanh() * by

        @torch.compile(backend="eager")
        def first(x):
            for _ in range(1):
                print("there")
                x = act(x, 2)
            return x

        @torch.compile(backend="eager")
        def second(x):
            return act(x, 3)

        first(torch.randn(4))
        second(torch.randn(4))
        """,
    "a stack of contexts that all calls enter": """
        import contextlib

        def note(value):
            return (value * 2).relu()

        @torch.compile(backend="eager")
        def run(x):
            with contextlib.ExitStack() as stack:
                stack.enter_context(torch.no_grad())
                y = note(x + 1)
            return y

        weights = torch.randn(4, requires_grad=True)
        for _ in range(3):
            run(weights)
        """,
    "a list that is only handed on": """
        @torch.compile(backend="eager")
        def step(x):
            first = x.tolist()
            second = (x * 2).tolist()
            return list(zip(first, second))

        for _ in range(3):
            step(torch.randn(4))
        """,
}


def hazards(folder, program):
    lines = program.splitlines()
    places = found(analysed(folder, {"run.py": program}))
    return sorted({(line, code) for code, line in places if code.startswith("BRK7")}), lines


def marked(lines):
    return sorted(
        (number, code)
        for number, line in enumerate(lines, 1)
        for code in re.findall(r"BRK\d+", line.partition("#")[2])
    )


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_is_found(what, tmp_path):
    seen, lines = hazards(tmp_path, HEAD + textwrap.dedent(PROGRAMS[what]))
    assert seen == marked(lines) != []


@pytest.mark.parametrize("what", QUIET)
def test_what_is_one_graph_is_no_hazard(what, tmp_path):
    assert hazards(tmp_path, HEAD + textwrap.dedent(QUIET[what]))[0] == []
