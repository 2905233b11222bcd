"""What one of several modules of a list does, which an installed package calls by the number of its place."""

import pytest
from programs import TORCH, found, write

from breakscope.static import StaticOptions, analyze

FLOWS = """\
import torch
from torch import nn


class Masked(nn.Module):
    def inverse(self, x):
        return x[x > 0]


class Turned(nn.Module):
    def inverse(self, x):
        return x.flip(0)


def plus(x):
    return x + 1


def drawn(x):
    return x[x > 0]


class Flow(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        for i in range(len(self.parts) - 1, -1, -1):
            x = self.parts[i].inverse(x)
        return x


class Chosen(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.made = drawn if how > 2 else plus

    def forward(self, x):
        return self.made(x)
"""
NET = """\
import torch
from flowlib import Chosen, Flow, Masked, Turned


class Net(torch.nn.Module):
    def __init__(self, how):
        super().__init__()
        self.flow = {made}

    def forward(self, x):
        return self.flow(x)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    (
        ("Flow([Masked(), Turned()])", [("BRK302", 11)]),
        ("Flow([Turned(), Turned()])", []),
        ("Chosen(how)", []),
    ),
)
def test_each_has_its_turn(made, expected, tmp_path, monkeypatch):
    files = {
        "site-packages/flowlib-1.0.dist-info/METADATA": "Name: flowlib\n",
        "site-packages/flowlib/__init__.py": FLOWS,
        "net.py": NET.format(made=made),
    }
    write(tmp_path, files)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    assert found(analyze([tmp_path / "net.py"], StaticOptions(torch=TORCH))) == expected
