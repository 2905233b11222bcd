"""What a break hands on makes Dynamo compile the code behind it again, where it is another in each call. Each program
was measured under torch 2.13: it compiles again for what is marked, and for nothing else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import random

import torch

scale = torch.tensor(2.0)


"""
LOUD = {
    "a number in arithmetic": """
        @torch.compile
        def step(x):
            y = x * 2
            largest = y.max().item()  # HAZARD
            return y / largest

        for _ in range(4):
            step(torch.randn(8))
    """,
    "a number that is compared": """
        @torch.compile
        def step(x):
            y = x * 2
            if y.sum().item() > 0:  # HAZARD
                return y + 1
            return y - 1

        for _ in range(6):
            step(torch.randn(8))
    """,
    "rows of a mask": """
        @torch.compile
        def step(x, y):
            chosen, other = x[y > 0], y + 1  # HAZARD
            return chosen.mean() + other.sum()

        for _ in range(4):
            step(torch.randn(40), torch.randn(40))
    """,
    "a number that is drawn": """
        @torch.compile
        def step(x):
            if random.random() < 0.5:  # HAZARD
                return x * 2
            return x + 1

        random.seed(0)
        x = torch.ones(8)
        for _ in range(6):
            step(x)
    """,
    "the end of a slice": """
        @torch.compile
        def step(x):
            most = int(x.abs().max() * 3)  # HAZARD
            return x[:most] * 2

        for _ in range(4):
            step(torch.randn(30))
    """,
    "what a helper gives back": """
        def longest(x):
            return int(x.abs().max().item() * 3)  # HAZARD

        @torch.compile
        def step(x):
            most = longest(x)
            return x[:most] * 2

        for _ in range(4):
            step(torch.randn(30))
    """,
    "what another module gives back in training": """
        class Drop(torch.nn.Module):
            def forward(self, x):
                if not self.training:
                    return x
                kept = x > 0
                return x[kept]  # HAZARD

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = Drop()

            def forward(self, x):
                return self.drop(x) * 2

        net = torch.compile(Net())
        for _ in range(4):
            net(torch.randn(30))
    """,
    "a mask that is drawn": """
        @torch.compile
        def step(x):
            kept = x[torch.rand(x.shape[0]) > 0.5]  # HAZARD
            return kept * 2

        x = torch.randn(30)
        for _ in range(4):
            step(x)
    """,
    "a function that is chosen": """
        def double(x):
            return x * 2

        @torch.compile
        def step(x):
            chosen = random.choice([torch.sin, torch.cos, double])  # HAZARD
            return chosen(x) + 1

        for _ in range(4):
            step(torch.randn(8))
    """,
    "in a helper": """
        def largest(x):
            value = float(x.max())  # HAZARD
            return x / value

        @torch.compile
        def step(x):
            return largest(x) + 1

        for _ in range(4):
            step(torch.randn(8))
    """,
}
QUIET = {
    "one tensor for all calls": """
        @torch.compile
        def step(x):
            y = x * 2
            return y / y.max().item()

        x = torch.randn(8)
        for _ in range(4):
            step(x)
    """,
    "what a helper gives back and nobody looks at": """
        def longest(x):
            return int(x.abs().max().item() * 3)

        @torch.compile
        def step(x):
            most = longest(x)
            return x * 2, most

        for _ in range(4):
            step(torch.randn(30))
    """,
    "one tensor beside others": """
        def cut(x, lengths):
            return x / lengths.max().item()

        @torch.compile
        def step(x, lengths):
            return cut(x, lengths=lengths)

        lengths = torch.tensor([3, 5])
        for _ in range(4):
            step(torch.randn(8), lengths)
    """,
    "what comes of sizes": """
        @torch.compile
        def step(parts):
            sizes = torch.tensor([part.shape[0] for part in parts])
            return torch.cat(parts) * sizes.max().item()

        for _ in range(4):
            step([torch.randn(2), torch.randn(3)])
    """,
    "tensors that hold the same": """
        @torch.compile
        def step(x):
            y = x * 2
            return y / y.max().item()

        for _ in range(4):
            step(torch.ones(8))
    """,
    "a number that is only returned": """
        @torch.compile
        def step(x):
            y = x * 2
            largest = y.max().item()
            return y + 1, largest

        for _ in range(4):
            step(torch.randn(8))
    """,
    "a number that is not the argument's": """
        @torch.compile
        def step(x):
            y = x * 2
            factor = scale.item()
            return y * factor

        for _ in range(4):
            step(torch.randn(8))
    """,
    "whether there is something": """
        @torch.compile
        def step(x):
            y = x * 2
            broken = torch.isnan(y).any().item()
            return y + 1 if broken else y - 1

        for _ in range(4):
            step(torch.randn(8))
    """,
    "a function that is skipped": """
        @torch.compile
        def step(x):
            for row in range(2):
                y = x * 2
                x = y / y.max().item()
            return x

        for _ in range(4):
            step(torch.randn(8))
    """,
}


def lines_of(folder, program):
    source = HEAD + textwrap.dedent(program).lstrip("\n")
    lines = source.splitlines()
    return [
        lines[line - 1]
        for code, line in found(analysed(folder, {"run.py": source}))
        if code.startswith("BRK7")
    ]


@pytest.mark.parametrize("what", LOUD)
def test_what_differs_behind_a_break_is_found(what, tmp_path):
    seen = lines_of(tmp_path, LOUD[what])
    assert len(seen) == 1 and "HAZARD" in seen[0]


@pytest.mark.parametrize("what", QUIET)
def test_what_does_not_differ_or_matter_is_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []
