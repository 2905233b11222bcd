"""Decoders with the dimensions of large models, and the same with small ones: what fake_runs.py runs.

Each has breaks of a usual kind: a check of values, a log line, a number read from a tensor; the mixture
of experts also sends tokens to experts by boolean masks.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Dimensions:
    layers: int
    width: int
    hidden: int
    heads: int
    key_heads: int
    vocabulary: int
    experts: int = 0
    tokens: int = 512


LLAMA_70B = Dimensions(80, 8192, 28672, 64, 8, 128256)
EXPERTS_70B = Dimensions(48, 5120, 10240, 40, 8, 128256, experts=8)
SMALL = Dimensions(2, 64, 128, 4, 2, 128, tokens=16)
SMALL_EXPERTS = Dimensions(2, 64, 128, 4, 2, 128, experts=8, tokens=16)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.size, self.heads, self.key_heads = d.width // d.heads, d.heads, d.key_heads
        self.q = nn.Linear(d.width, d.heads * self.size, bias=False)
        self.k = nn.Linear(d.width, d.key_heads * self.size, bias=False)
        self.v = nn.Linear(d.width, d.key_heads * self.size, bias=False)
        self.o = nn.Linear(d.heads * self.size, d.width, bias=False)

    def forward(self, x, cos, sin):
        batch, tokens, _ = x.shape
        q = self.q(x).view(batch, tokens, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(batch, tokens, self.key_heads, self.size).transpose(1, 2)
        v = self.v(x).view(batch, tokens, self.key_heads, self.size).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(out.transpose(1, 2).reshape(batch, tokens, -1))


def rotated(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class Dense(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate = nn.Linear(d.width, d.hidden, bias=False)
        self.up = nn.Linear(d.width, d.hidden, bias=False)
        self.down = nn.Linear(d.hidden, d.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.router = nn.Linear(d.width, d.experts, bias=False)
        self.experts = nn.ModuleList(Dense(d) for _ in range(d.experts))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = torch.topk(self.router(flat).softmax(-1), 2)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == number)
            out = out.index_add(0, rows, expert(flat[rows]) * weights[rows, place, None])
        return out.view_as(x)


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.before, self.after = Norm(d.width), Norm(d.width)
        self.attention = Attention(d)
        self.mlp = Experts(d) if d.experts else Dense(d)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.before(x), cos, sin)
        return x + self.mlp(self.after(x))


class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.embed = nn.Embedding(d.vocabulary, d.width)
        self.layers = nn.ModuleList(Layer(d) for _ in range(d.layers))
        self.norm, self.head = Norm(d.width), nn.Linear(d.width, d.vocabulary, bias=False)
        self.size = d.width // d.heads

    def forward(self, tokens, lengths):
        longest = int(lengths.max())
        x = self.embed(tokens[:, :longest])
        place = torch.arange(longest, device=x.device, dtype=torch.float32)
        turns = 1e4 ** (-torch.arange(0, self.size, 2, device=x.device) / self.size)
        angles = torch.cat([place[:, None] * turns] * 2, -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        x = self.norm(x)
        if x.abs().max() > 1e4:
            x = x.clamp(-1e4, 1e4)
        logits = self.head(x)
        print("mean logit", logits.mean().item())
        return logits


def made(d):
    tokens = torch.randint(0, d.vocabulary, (1, d.tokens))
    model = Decoder(d) if d.layers < 10 else Decoder(d).to(torch.bfloat16)
    return model, (tokens, torch.tensor([d.tokens])), {}


def llama_70b():
    return made(LLAMA_70B)


def llama_small():
    return made(SMALL)


def experts_70b():
    return made(EXPERTS_70B)


def experts_small():
    return made(SMALL_EXPERTS)
