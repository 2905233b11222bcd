"""A step with a backward pass: a value read for a log, a branch on the loss, and a print."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, read=True, check=True, talk=True):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(128, 256), nn.Linear(256, 256), nn.Linear(256, 10)
        self.read, self.check, self.talk = read, check, talk

    def forward(self, x, labels):
        x = self.a(x).relu()
        if self.read:
            norm = x.norm().item()  # break 1
        x = self.b(x).relu()
        if self.talk:
            print(end="")  # break 2
        loss = F.cross_entropy(self.c(x), labels)
        if self.check:
            if loss > 1e9:  # break 3
                raise ValueError("the loss is too large")
        return loss * 0.5


def build(**off):
    return Net(**off), (torch.randn(64, 128), torch.randint(0, 10, (64,)))


def broken():
    return build()


def without_1():
    return build(read=False)


def without_2():
    return build(talk=False)


def without_3():
    return build(check=False)
