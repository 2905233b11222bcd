"""Targets of test_radar.py."""

import torch
from torch import nn


class Steady(nn.Module):
    """Nothing but what every model has: one compile for dynamic sizes, one for a size of 1, one for each mode."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x).relu()


def steady():
    return Steady(), (torch.randn(4, 8),), {}


class Counter(nn.Module):
    """Compiled again in every call, for its counter."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # counts
        return self.drop(x) * self.calls


def counter():
    return Counter(), (torch.randn(4, 8),), {}


class Tokens(nn.Module):
    """Compiled for every batch size; takes no more than 16 tokens."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)

    def forward(self, tokens, mask=None):
        if tokens.shape[1] > 16:
            raise ValueError("at most 16 tokens")
        weights = torch.tensor([1.0] * tokens.shape[0])  # batch
        return self.embed(tokens) * mask[..., None] * weights[:, None, None]


def tokens():
    return Tokens(), (torch.randint(0, 20, (4, 12)),), {"mask": torch.ones(4, 12)}


def scaled():
    def f(x, options):
        if options["kind"] not in ("mean", "sum"):
            raise ValueError("mean or sum")
        if options["flip"]:
            x = x.flip(0)
        return x[: options["keep"]] * options["scale"]

    return f, (torch.randn(8, 4), {"flip": False, "keep": 3, "kind": "mean", "scale": 0.5}), {}


def double():
    def f(x):
        return x * 2  # takes every dtype

    return f, (torch.randn(3, 5, 2),), {}
