"""A branch on a value that `.item()` reads, in a model with a backward pass; fixed with `torch.where`."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(128, 256), nn.Linear(256, 128)


class Broken(Model):
    def forward(self, x):
        x = self.first(x).tanh()
        if x.mean().item() > 10:
            x = x - 1
        return self.second(x)


class Fixed(Model):
    def forward(self, x):
        x = self.first(x).tanh()
        x = torch.where(x.mean() > 10, x - 1, x)
        return self.second(x)


def broken():
    return Broken(), (torch.randn(32, 128),)


def fixed():
    return Fixed(), (torch.randn(32, 128),)
