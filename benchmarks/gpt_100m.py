"""A GPT of 124 million parameters in bfloat16, its loss with it, for a GPU: `broken` logs and
guards as people do, `fixed` does not.

    breakscope bench benchmarks/gpt_100m.py::broken --modes default,reduce-overhead
    breakscope run benchmarks/gpt_100m.py::broken
"""

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 50_304, 1024, 768, 12, 12
BATCH, LENGTH = 8, 512


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, watched: bool):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )
        self.watched = watched
        self.scale = 0.0

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        if self.watched:
            self.scale = x.detach().float().norm().item()  # for the logs
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, watched: bool):
        super().__init__()
        self.watched = watched
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block(watched) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        loss = F.cross_entropy(
            self.head(self.norm(x)).float().view(-1, VOCABULARY), targets.view(-1)
        )
        if self.watched and torch.isnan(loss):
            raise ValueError("the loss is not a number")
        return loss


def build(watched: bool):
    torch.manual_seed(0)
    tokens = torch.randint(0, VOCABULARY, (2, BATCH, LENGTH))
    return GPT(watched).bfloat16(), (tokens[0], tokens[1]), {}


def broken():
    return build(watched=True)


def fixed():
    return build(watched=False)
