"""gpt.py without graph breaks: the cache has its full size from the start, and finished sentences are masked, not left.

One more forward runs when every sentence ends early; in return no step reads a value back from the device.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocabulary: int = 64
    context: int = 32
    width: int = 32
    heads: int = 4
    layers: int = 2
    eos: int = 0


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x, cache, positions):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        keys, values = cache
        keys.index_copy_(2, positions, k)
        values.index_copy_(2, positions, v)
        visible = torch.arange(keys.shape[2], device=x.device) <= positions[:, None]
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=visible)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width), nn.GELU(), nn.Linear(4 * config.width, config.width)
        )

    def forward(self, x, cache, positions):
        x = x + self.attention(self.norm1(x), cache, positions)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def new_caches(self, batch: int, device):
        shape = (2, batch, self.config.heads, self.config.context, self.config.width // self.config.heads)
        return [torch.zeros(shape, device=device) for _ in self.blocks]

    def forward(self, ids, caches, positions):
        x = self.tokens(ids) + self.positions(positions)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache, positions)
        return self.head(self.norm(x[:, -1]))

    @torch.no_grad()
    def generate(self, ids, steps: int, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0):
        caches = self.new_caches(ids.shape[0], ids.device)
        positions = torch.arange(ids.shape[1], device=ids.device)
        finished = torch.zeros(ids.shape[0], 1, dtype=torch.bool, device=ids.device)
        logits = self(ids, caches, positions)
        for _ in range(steps):
            token = sample(logits, temperature, top_k, top_p)
            token = token.masked_fill(finished, self.config.eos)
            finished = finished | (token == self.config.eos)
            ids = torch.cat([ids, token], dim=1)
            positions = positions[-1:] + 1
            logits = self(token, caches, positions)
        return ids


def sample(logits, temperature: float, top_k: int, top_p: float):
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    logits = logits / temperature
    if top_k > 0:
        smallest = torch.topk(logits, top_k).values[:, -1:]
        logits = logits.masked_fill(logits < smallest, float("-inf"))
    if top_p < 1.0:
        ordered, order = logits.sort(descending=True)
        before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        beyond = (before > top_p).scatter(1, order, before > top_p)
        logits = logits.masked_fill(beyond, float("-inf"))
    return torch.multinomial(logits.softmax(-1), num_samples=1)


def make():
    torch.manual_seed(0)
    model = GPT(Config()).eval()
    prompt = torch.randint(1, model.config.vocabulary, (2, 8))
    return model.generate, (prompt,), {"steps": 6, "temperature": 0.8, "top_k": 20, "top_p": 0.9}
