"""The loss is read for a history after a forward pass with gradients; fixed: the caller reads it."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, keep: bool):
        super().__init__()
        self.layers, self.keep, self.last = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10)), keep, 0.0

    def forward(self, x, labels):
        loss = F.cross_entropy(self.layers(x), labels)
        if self.keep:
            print(end="", flush=loss.item() > 1e9)
        return loss * 0.5


def broken():
    return Model(True), (torch.randn(32, 64), torch.randint(0, 10, (32,)))


def fixed():
    return Model(False), (torch.randn(32, 64), torch.randint(0, 10, (32,)))
