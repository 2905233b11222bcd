"""A transformer with a print in each of its three layers; forward and backward."""

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, talk: bool, width: int = 64, heads: int = 4):
        super().__init__()
        self.heads, self.talk = heads, talk
        self.norm, self.mixed, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.other_norm, self.wide, self.narrow = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.mixed(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(y)
        if self.talk:
            print(end="")
        return x + self.narrow(F.gelu(self.wide(self.other_norm(x))))


class Model(nn.Module):
    def __init__(self, talk: bool):
        super().__init__()
        self.layers = nn.ModuleList(Layer(talk) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def build(talk):
    return Model(talk), (torch.randn(1, 32, 64),)


def broken():
    return build(True)


def fixed():
    return build(False)
