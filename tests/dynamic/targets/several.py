"""Targets of test_each_break.py: steps with several breaks."""

import torch
from torch import nn


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = self.a(x).relu()
        print(end="")  # print
        x = self.b(x).relu()
        if x.sum() > 1e9:  # branch
            x = x - 1
        return self.c(x)


def make():
    return Several(), (torch.randn(4, 8),)
