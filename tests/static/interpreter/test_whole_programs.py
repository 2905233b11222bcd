"""Programs whose breaks Dynamo (torch 2.13.0) shows on exactly the marked lines."""

import textwrap

import pytest
from programs import analysed, found

SOLVER = """\
class Solver{0}(Base):
    def step(self, x):
        return x * {0}
"""
REGISTRY = (
    "import torch\nclass Base:\n    def run(self, x):\n        return self.step(x)\n"
    + "".join(SOLVER.format(n) for n in range(6))
    + "class Solver6(Base):\n    def step(self, x):\n        return x.item()  # BRK201\n"
    + "SOLVERS = {"
    + ", ".join(f"'{n}': Solver{n}" for n in range(7))
    + """}
class Net(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
    def forward(self, x):
        return SOLVERS[self.name]().run(x)
"""
)

STEPPER = """\
class Stepper{0}(Stepper):
    def step(self, x):
        return x.nonzero() + {0}  # BRK301
"""
OBJECTS_OF_REGISTRY = (
    "import torch\nclass Stepper:\n    def __init__(self, x):\n        self.x = x\n    def run(self):\n"
    "        return self.step(self.x)\n"
    + "".join(STEPPER.format(n) for n in range(9))
    + "STEPPERS = {"
    + ", ".join(f"'{n}': Stepper{n}" for n in range(9))
    + """}
class Net(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
    def forward(self, x):
        stepper = STEPPERS[self.name](x)
        return stepper.run()
"""
)

PROGRAMS = {
    "a recurrent module as an argument, and as self": """\
        import torch
        from torch import nn
        class Own(nn.LSTM):
            def start(self, x):
                n = 2 if self.bidirectional else 1  # BRK503
                return torch.zeros(n, 3) + x.sum()
            def forward(self, x):
                return self.start(x) * 2  # BRK503
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(4, 4)
                self.own = Own(4, 4)
            def one(self, x, rnn):
                return x.reshape(-1, rnn.input_size) * 2  # BRK503
            def forward(self, x):
                return self.one(x, self.rnn), self.own(x)  # BRK503
        """,
    "comprehensions in front of a recurrent module are in the graph": """\
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(4, 4)
            def forward(self, x):
                names = ["a", "b"]
                before = {n: x + i for i, n in enumerate(names)}
                y, _ = self.rnn(x)  # BRK503
                behind = {n: x + i for i, n in enumerate(names)}  # BRK113
                return before["a"] + y + behind["a"]
        """,
    "a registry of many classes": REGISTRY,
    "objects of a registry of many classes": OBJECTS_OF_REGISTRY,
    "what a made tensor takes the place of": """\
        import torch
        def in_order(x, t):
            if t is None:
                t = torch.linspace(0, 1, x.size(-2))
            before = -1.0
            for value in t:
                if value <= before:  # BRK102
                    raise ValueError("not in order")
                before = value
            return t
        def scaled(x, factor):
            if factor is None:
                factor = x.size(-1)
            if factor > 3:
                x = x / factor
            return x
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, t=None, factor=None):
                return scaled(x, factor) * in_order(x, t).sum()
        """,
    "context managers that exist before the region": """\
        import torch
        class Scope:
            def __enter__(self):
                return self
            def __exit__(self, *problem):
                return False
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scope = Scope()
            def forward(self, x):
                with Scope():
                    x = x + 1
                with self.scope:  # BRK508
                    x = x + 2
                return x
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_breaks_stand_where_dynamo_has_them(name, tmp_path):
    source = textwrap.dedent(PROGRAMS[name])
    marked = [
        (line.rpartition("# ")[2], number)
        for number, line in enumerate(source.split("\n"), 1)
        if "# BRK" in line
    ]
    assert sorted(found(analysed(tmp_path, {"program.py": source}))) == sorted(marked)


STARTED = {
    "settings.py": """\
import torch

SCALE = 2
if __name__ == "__main__":
    SCALE = torch.rand(1)
""",
    "net.py": """\
import torch
from settings import SCALE


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1 if SCALE > 1 else x


if __name__ == "__main__":

    @torch.compile
    def run(x):
        print(x)
""",
}


def test_only_a_started_program_is_main(tmp_path):
    assert found(analysed(tmp_path, STARTED)) == [("BRK401", 14)]
