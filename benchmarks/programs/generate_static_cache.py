"""Decoding with a cache of fixed size: the place that is written is a Python int, so it is a constant of the graph
until its second value; the length that is read bounds a slice.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width=8, longest=16):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.register_buffer("keys", torch.zeros(1, longest, width))
        self.register_buffer("values", torch.zeros(1, longest, width))

    def forward(self, x, place):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys[:, place] = k[:, 0]  # want: recompile int_argument x5 "place"
        self.values[:, place] = v[:, 0]
        scores = (q @ self.keys.transpose(1, 2)).softmax(-1)
        return scores @ self.values

    def forward_by_tensor(self, x, place):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys.index_copy_(1, place, k)
        self.values.index_copy_(1, place, v)
        scores = (q @ self.keys.transpose(1, 2)).softmax(-1)
        return scores @ self.values


model = Attention().eval()
decode = torch.compile(model.forward_by_tensor if CURED else model.forward, backend="eager")
x = torch.randn(1, 1, 8)
with torch.no_grad():
    for step in range(6):
        x = decode(x, torch.tensor([step]) if CURED else step)
