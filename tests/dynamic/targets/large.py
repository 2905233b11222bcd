"""A file with much beside what a small program needs."""

import math

import torch
from torch import nn

SCALE = math.sqrt(2)


class Unused(nn.Module):
    def forward(self, x):
        return x * SCALE


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = self.first(x)
        with torch.no_grad():
            y = self.second(x)
        return x + y * self.calls


class Decides(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        for _ in range(2):
            x = self.first(x)
            if x.mean() > 10:
                x = x / 2
        return {"x": x}


def counts():
    return Counts(), (torch.ones(2, 4),), {}


def decides():
    return Decides(), (torch.ones(2, 4),)


def batches():
    return [(torch.ones(n, 4),) for n in (2, 3)]


if __name__ == "__main__":
    raise SystemExit("a script")
