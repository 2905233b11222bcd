"""A print and a branch, one behind the other."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, talk=True, branch=True):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
        self.talk, self.branch = talk, branch

    def forward(self, x):
        x = self.a(x).relu()
        if self.talk:
            print(end="")  # break 1
        x = self.b(x).relu()
        if not self.branch:
            return self.c(torch.where(x.sum() > 1e9, x - 1, x))
        if x.sum() > 1e9:  # break 2
            x = x - 1
        return self.c(x)


def broken():
    return Net(), (torch.randn(16, 64),)


def without_1():
    return Net(talk=False), (torch.randn(16, 64),)


def without_2():
    return Net(branch=False), (torch.randn(16, 64),)
