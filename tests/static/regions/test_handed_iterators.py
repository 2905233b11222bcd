"""Iterators that a program makes and hands to what it compiles, each measured under torch 2.13: what is marked breaks."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = """\
import torch

two = [torch.ones(2), torch.ones(2)]
layer = torch.nn.Linear(2, 2)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

@torch.compile
def total(parts, x):
    for part in parts:
        x = x + part
    return x

"""
LOOPED = HEAD.replace("in parts:", "in parts:  # BRK579")
HANDED = (
    "map(torch.add, two, two)",
    "map(float, [1, 2])",
    "filter(None, [1, 2])",
    "iter({1.0: 2})",
    "iter(two)",
    "reversed(two)",
    "(part * 2 for part in two)",
    "{'a': two[0]}.values()",
    "layer.parameters()",
    "net.buffers()",
)
FOLLOWED = (
    "two",
    "range(3)",
    "iter((1, 2))",
    "{1: two}.keys()",
    "list(layer.parameters())",
    "{1, 2}",
)
PROGRAMS = {
    "the next item is taken in the region": """
        @torch.compile
        def step(batches, w):
            x = next(batches)  # BRK579
            return (x * w).sum()

        batches = iter(two * 4)
        for _ in range(3):
            step(batches, torch.ones(2))
    """,
    "the next item is a number": """
        @torch.compile
        def step(rates, x):
            return x * next(rates)  # BRK579 BRK730

        rates = iter([0.5, 0.25, 0.125])
        for _ in range(3):
            step(rates, torch.ones(2))
    """,
    "batches of a loader": """
        from torch.utils.data import DataLoader, TensorDataset

        @torch.compile
        def step(batches):
            x, = next(batches)  # BRK579
            return layer(x).sum()

        batches = iter(DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=2))
        for _ in range(3):
            step(batches)
    """,
    "a function of torch goes over it": """
        @torch.compile
        def norm(parameters):
            return torch.nn.utils.get_total_norm(parameters)  # BRK579

        norm(layer.parameters())
    """,
    "by keyword, to a module": """
        class Sum(torch.nn.Module):
            def forward(self, x, others=None):
                return x + torch.stack(list(others)).sum(0)  # BRK579

        compiled = torch.compile(Sum())
        compiled(torch.ones(2), others=map(torch.sin, two))
        compiled(torch.ones(2), others=map(torch.sin, two))
    """,
    "nothing goes over it": """
        @torch.compile
        def double(x, parts=None):
            return x * 2 if parts is not None else x + 1

        double(torch.ones(2), zip(two, two))
    """,
}


@pytest.mark.parametrize("handed", HANDED)
def test_an_iterator_is_handed_over(handed, tmp_path):
    source = f"{LOOPED}total({handed}, torch.ones(2))\n"
    result = analysed(tmp_path, {"m.py": source})
    assert found(result) == sorted(marked(source), key=lambda place: place[1])


@pytest.mark.parametrize("handed", FOLLOWED)
def test_what_dynamo_goes_over_is_no_break(handed, tmp_path):
    result = analysed(tmp_path, {"m.py": f"{HEAD}total({handed}, torch.ones(2))\n"})
    assert found(result) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[name])
    result = analysed(tmp_path, {"m.py": source})
    assert sorted(found(result)) == sorted(marked(source))
