"""Six residual blocks, each of which logs: six breaks in a step, and the loop over the blocks is lost."""

import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Block(nn.Module):
    def __init__(self, log: bool):
        super().__init__()
        self.norm, self.inner, self.outer, self.log = nn.LayerNorm(64), nn.Linear(64, 128), nn.Linear(128, 64), log

    def forward(self, x):
        y = self.inner(self.norm(x)).relu()
        if self.log:
            logger.debug("inside a block")
        return x + self.outer(y)


class Model(nn.Module):
    def __init__(self, log: bool):
        super().__init__()
        self.blocks = nn.ModuleList(Block(log) for _ in range(6))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def broken():
    return Model(True), (torch.randn(64, 64),)


def fixed():
    return Model(False), (torch.randn(64, 64),)
