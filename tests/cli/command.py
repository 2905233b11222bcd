"""Runs the command in this process and returns what came out; and the small programs that the tests
check."""

from __future__ import annotations

from dataclasses import dataclass

from breakscope.__main__ import main

BREAKS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x.sum().item()
"""
CLEAN = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.where(x.sum() > 0, x * 2, x)
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def runner(capsys):
    """A function that runs a command line and gives back what it did."""

    def run(*arguments) -> Done:
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run
