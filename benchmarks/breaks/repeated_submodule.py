"""One small shared layer that reads the time, used sixteen times in a loop: the loop is lost, the layer resumes."""

import os

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, watch: bool):
        super().__init__()
        self.mix, self.watch = nn.Linear(32, 32), watch

    def forward(self, x):
        y = self.mix(x).tanh()
        if self.watch:
            os.getloadavg()
        return x + y * 0.5


class Model(nn.Module):
    def __init__(self, watch: bool):
        super().__init__()
        self.cell = Cell(watch)
        self.requires_grad_(False)

    def forward(self, x):
        for _ in range(16):
            x = self.cell(x)
        return x


def build(watch):
    return Model(watch), (torch.randn(16, 32),)


def broken():
    return build(True)


def fixed():
    return build(False)
