"""Targets of test_peel.py: breaks that stand behind others. What breaks is marked: 1 is seen at once, 2 behind 1, ..."""

import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        for _ in range(2):
            if x.sum() > 0:  # loop 1
                x = x + 1
        y = self.linear(x)
        scale = y.max().item()  # loop 2
        for step in range(2):
            y = y * scale
            print("step", step)  # loop 2
            chosen = torch.nonzero(y > 0)  # loop 3
            y = y + chosen.shape[0]
        log.info("done")  # loop 4
        return y


def loop():
    return Loop(), (torch.ones(3, 4),), {}


class Try(nn.Module):
    def forward(self, x):
        try:
            total = int(x.sum()) + 1  # try 1
            while x.sum() < 10:  # try 2
                x = x + 1
            assert (x > 0).all(), f"bad {x}"  # try 3
        except ValueError:
            total = 0
        return x * total


def attempts():
    return Try(), (torch.ones(6),), {}


@torch.compiler.disable
def opaque(x):
    return x * 2


class With(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.LSTM(4, 4)
        self.__scale = 3

    def forward(self, x):
        for _ in range(1):
            x = self.nested(x)
        return x

    def nested(self, x):
        with torch.no_grad():
            y, _ = self.inner(x)  # with 1
            y = opaque(y) * self.__scale  # with 2
            y = y[y > y.mean()]  # with 3
        return y


def nested():
    torch.manual_seed(0)
    return With(), (torch.randn(2, 3, 4),), {}


def plain():
    def read(x):
        y = x + 1
        return y * y.sum().item()  # plain 1

    return read, (torch.ones(3),), {}


def clean():
    return nn.Linear(4, 4), (torch.ones(3, 4),), {}
