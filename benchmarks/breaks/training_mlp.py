"""Forward and backward of a wide pointwise model with a branch on a tensor between its halves."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(512)), nn.Parameter(torch.zeros(512))
        self.head = nn.Linear(512, 64)


class Broken(Model):
    def forward(self, x):
        y = (x * self.scale + self.shift).relu() + x * 0.1
        if y.abs().max() > 1e6:
            y = y * 0.5
        y = (y * y + 1).rsqrt() * x
        return self.head(y)


class Fixed(Model):
    def forward(self, x):
        y = (x * self.scale + self.shift).relu() + x * 0.1
        y = torch.where(y.abs().max() > 1e6, y * 0.5, y)
        y = (y * y + 1).rsqrt() * x
        return self.head(y)


def broken():
    return Broken(), (torch.randn(512, 512),)


def fixed():
    return Fixed(), (torch.randn(512, 512),)
