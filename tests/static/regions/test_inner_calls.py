"""Functions that Dynamo compiles by themselves because of a break, and that one call of a region calls several
times with something else. Each program was measured under torch 2.13: it compiles again for what is marked, and for
nothing else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, before, after, number=0):
        super().__init__()
        self.number = number
        self.linear = nn.Linear(before, after)

    def forward(self, x):
        h = self.linear(x) * (1 + self.number)  # LINE
        BREAK
        return h.relu()


def act(x, by=1):
    return x.tanh() * by  # ACT


"""
PROGRAMS = {
    "what a layer gives requires grad": (
        "print('there')",
        "LINE BRK718",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(4, 4) for _ in range(3)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        net = torch.compile(Net())
        net(torch.randn(2, 4))
        """,
    ),
    "layers of other sizes": (
        "print('there')",
        "LINE BRK712",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = Block(4, 8), Block(8, 2)

            def forward(self, x):
                return self.second(self.first(x))

        with torch.no_grad():
            torch.compile(Net())(torch.randn(2, 4))
        """,
    ),
    "a number of the block": (
        "print('there')",
        "LINE BRK708",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(4, 4, i) for i in range(3)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        with torch.no_grad():
            torch.compile(Net())(torch.randn(2, 4))
        """,
    ),
    "a helper behind a break": (
        "pass",
        "ACT BRK708",
        """
        @torch.compile
        def run(x):
            out = []
            for by in (2, 4, 8):
                print(by)
                out.append(act(x, by))
            return out

        run(torch.randn(2, 4))
        """,
    ),
    "layers of torch's that the file derives from": (
        "print('there')",
        "LINE BRK712",
        """
        class Layer(nn.Linear):
            def forward(self, x):
                return super().forward(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.layer, self.second = Block(4, 4), Layer(4, 8), Block(8, 2)

            def forward(self, x):
                return self.second(self.layer(self.first(x)))

        with torch.no_grad():
            torch.compile(Net())(torch.randn(2, 4))
        """,
    ),
    "what a loop calls before its break": (
        "pass",
        "ACT BRK712",
        """
        class Net(nn.Module):
            def forward(self, levels):
                found = []
                for level in levels:
                    y = act(level)
                    print("there")
                    found.append(y)
                return found

        net = torch.compile(Net())
        net([torch.randn(2, 4), torch.randn(2, 8)])
        """,
    ),
    "what a test of a mask stands before": (
        "pass",
        "ACT BRK712",
        """
        class Net(nn.Module):
            def forward(self, x, kinds):
                out = torch.zeros_like(x)
                for kind in range(3):
                    mask = kinds == kind
                    if mask.any():
                        out[mask] = act(x[mask])
                return out

        net = torch.compile(Net())
        net(torch.randn(9, 3), torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2]))
        """,
    ),
    "where a mask holds": (
        "pass",
        "ACT BRK712",
        """
        class Net(nn.Module):
            def forward(self, x, kinds):
                out = torch.zeros_like(x)
                for kind in range(3):
                    (rows,) = torch.where(kinds == kind)
                    out[rows] = act(x[rows])
                return out

        net = torch.compile(Net())
        net(torch.randn(9, 3), torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2]))
        """,
    ),
    "for each value that there is": (
        "pass",
        "ACT BRK712",
        """
        class Net(nn.Module):
            def forward(self, x, kinds):
                out = torch.zeros_like(x)
                for kind in torch.unique(kinds):
                    mask = kinds == kind
                    out[mask] = act(x[mask])
                return out

        net = torch.compile(Net())
        net(torch.randn(9, 3), torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2]))
        """,
    ),
    "as many as are left in each turn": (
        "pass",
        "ACT BRK712",
        """
        @torch.compile
        def thin(rows, order):
            kept = []
            while order.numel() > 0:
                kept.append(order[0])
                near = act(rows[order[1:]])
                order = order[1:][(near - rows[order[0]]).abs().sum(-1) > 1.0]
            return torch.stack(kept)

        thin(torch.randn(12, 4), torch.arange(12))
        """,
    ),
    "what a loop calls whose break a setting decides on": (
        "pass",
        "LINE BRK718",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(4, 4) for _ in range(3)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                    if self.training and x.sum() > 1e6:
                        continue
                return x

        net = torch.compile(Net())
        net(torch.randn(2, 4))
        """,
    ),
}
PROGRAMS["the place in a list of modules"] = (
    "pass",
    "ACT BRK708",
    """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

        def forward(self, x):
            for by, block in enumerate(self.blocks):
                x = act(block(x), by)
                if x.mean() > 1:
                    break
            return x

    with torch.no_grad():
        torch.compile(Net())(torch.randn(2, 4))
    """,
)
QUIET = {
    "no break, so one graph": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = Block(4, 8, 1), Block(8, 2, 2)

            def forward(self, x):
                return act(self.second(act(self.first(x), 2)), 3)

        torch.compile(Net())(torch.randn(2, 4))
        """,
    "a break behind which both calls are one graph": """
        @torch.compile
        def run(x):
            print("there")
            return act(act(x, 2), 3)

        run(torch.randn(2, 4))
        """,
}


def hazards(folder, broken, program):
    source = HEAD.replace("BREAK", broken) + textwrap.dedent(program)
    lines = source.splitlines()
    places = found(analysed(folder, {"run.py": source}))
    return [f"{lines[line - 1]} {code}" for code, line in places if code.startswith("BRK7")]


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_is_found(what, tmp_path):
    broken, expected, program = PROGRAMS[what]
    seen = hazards(tmp_path, broken, program)
    assert len(seen) == 1 and seen[0].endswith(expected)


@pytest.mark.parametrize("what", QUIET)
def test_what_is_one_graph_is_no_hazard(what, tmp_path):
    assert hazards(tmp_path, "pass", QUIET[what]) == []
