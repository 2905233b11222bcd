"""Small models for benchmarks: with a break, without, and with faults."""

import os
import time

import torch
from torch import nn


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.calls = 0

    def forward(self, x, ids):
        self.calls = min(self.calls + 1, 3)
        x = self.first(x) * self.calls
        counts = torch.bincount(ids)
        return self.second(x) * counts.sum()


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.steps = nn.Linear(8, 8), 0

    def forward(self, x):
        self.steps += 1
        return self.layer(x) * self.steps


class Differs(nn.Module):
    def forward(self, x):
        return x * 3 if torch.compiler.is_compiling() else x + 1


class Leaves(nn.Module):
    def forward(self, x):
        if torch.compiler.is_compiling():
            os._exit(3)
        return x + 1


def broken():
    return Broken(), (torch.ones(4, 8), torch.tensor([0, 1, 1])), {}


def fixed():
    return Fixed(), (torch.ones(4, 8),), {}


def counting():
    return Counting(), (torch.ones(4, 8),), {}


def two_sizes():
    return [(torch.ones(4, 8),), (torch.ones(6, 8),)]


def differs():
    return Differs(), (torch.ones(3),), {}


def leaves():
    return Leaves(), (torch.ones(3),), {}


def fails():
    raise ValueError("no weights")


def hangs():
    time.sleep(60)


@torch._dynamo.register_backend
def never_ends_on_symbols(graph, inputs):
    if any(isinstance(value, torch.SymInt) for value in inputs):
        time.sleep(600)
    return graph
