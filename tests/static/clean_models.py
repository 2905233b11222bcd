"""Models in which there is nothing to find, with much that the analyzer must follow."""

MODEL = """import argparse
import math
from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from rearranging import Rearrange, rearrange
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}
LOW, HIGH = -20.0, 2.0


@dataclass
class Config:
    width: int = 64
    heads: Optional[int] = None
    activation: str = "gelu"
    sizes: Tuple[int, ...] = (2, 4)
    names: List[str] = field(default_factory=list)

    def __post_init__(self):
        if self.heads is None:
            self.heads = 4

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Output(NamedTuple):
    hidden: torch.Tensor
    score: Optional[torch.Tensor] = None


def exists(value):
    return value is not None


def default(value, other):
    return value if exists(value) else (other() if callable(other) else other)


def clones(module, n):
    return nn.ModuleList([module for _ in range(n)])


class Plain(nn.Module):
    def forward(self, x, *rest):
        return x * 2 + 0.5 * (HIGH - LOW)


class Timed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, time):
        return self.layer(x) + time[:, None]


class Steps(nn.Sequential):
    def forward(self, x, time):
        for layer in self:
            if isinstance(layer, Timed):
                x = layer(x, time)
            else:
                x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, config: Config, *extra, depth=2, **rest):
        super().__init__()
        self.config, self.extra = config, nn.ModuleList(extra)
        keep = lambda name, value: self.register_buffer(name, value)
        keep("table", torch.arange(8).float())
        self.pairs = nn.ModuleList([])
        for _ in range(depth):
            self.pairs.append(nn.ModuleList([nn.LayerNorm(config.width), Timed(config.width)]))
        self.steps = Steps(Timed(config.width), nn.Identity())
        self.fold = nn.Sequential(Rearrange("b n d -> b (n d)"), nn.Linear(4, 4), ACTIVATIONS[config.activation]())
        self.copies = clones(Plain(), 2)
        self.mode = "mean"

    def take(self, size, other=1, third=1):
        return 0 if third else other

    def residual(self, x, function):
        return x + function(x)

    def forward(self, x, time, ids, noise=None, mask: Optional[torch.Tensor] = None, **kwargs):
        b, *spatial, width = x.shape
        assert width == self.config.head_width * self.config.heads, f"{width} is not {self.config.width}"
        noise = default(noise, lambda: torch.randn_like(x))
        for norm, timed in self.pairs:
            x = self.residual(x, lambda t: timed(norm(t), time))
        x = self.steps(x + noise, time)
        first, second = map(lambda t: rearrange(t, "b n d -> b d n"), (x, x * 2))
        pooled = x.reshape(b, *spatial, -1)[ids, torch.arange(x.shape[1])[:, None]]
        seen = []
        for at, copied in enumerate(self.copies, start=1):
            x = copied(x, at) if at > 1 else copied(x)
            seen.append(x)
        x = torch.stack([*seen, seen.pop()]).mean(0)
        if mask is not None and exists(mask):
            x = x.masked_fill(mask == 0, 0.0)
        if self.mode == "mean":
            return Output(self.fold(x), score=pooled), first
        elif self.mode in ("sum", "none"):
            return Output(x), second
        raise ValueError(f"unknown mode {self.mode}")

    @torch.no_grad()
    def generate(self, x):
        while x.sum() > 0:
            x, _ = self(x, x, x)
            print(x.item())

    def reset(self, mode):
        self.mode = mode
        setattr(self, "steps", None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int)
    args = parser.parse_args()
    model = Model(Config(args.width))
    torch.save({"args": vars(args), "model": model.state_dict()}, "model.pt")


if __name__ == "__main__":
    main()
"""

# What is registered, passed on by name, or only known to be an argument.
REGISTERED = """import argparse
from typing import Dict, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BLOCKS: Dict[str, type] = {}
HEADS = {"linear": nn.Linear}


class Batch(NamedTuple):
    x: torch.Tensor
    edges: torch.Tensor


def register(name: str):
    def wrap(cls):
        if name in BLOCKS:
            raise KeyError(name)
        BLOCKS[name] = cls
        return cls

    return wrap


def head(function):
    HEADS[function.__name__] = function
    return function


@head
def wide(width):
    return nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


class Norm(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


@register("plain")
class Block(nn.Module):
    def __init__(self, width, rate=0.0, gate=1.0, norm=Norm):
        super().__init__()
        self.eps = 1e-6
        self.rate, self.gate = rate, gate
        self.norm, self.layer = norm(width), nn.Linear(width, width)

    def forward(self, x):
        if self.rate == 0.0 or not self.training:
            return x + self.layer(self.norm(x)) * self.gate
        return x * self.rate


@register("mixed")
class Mixed(Block):
    def forward(self, x):
        return torch.lerp(x, self.layer(x), 0.5 + self.eps)


class Stack(nn.Module):
    def __init__(self, width, rates, **rest):
        super().__init__()
        self.blocks = nn.ModuleList([BLOCKS[kind](width, rate=rate, **rest) for kind, rate in zip(BLOCKS, rates)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self, width=8, kind="wide", max_rate=0.1):
        super().__init__()
        rates = [float(r) for r in np.linspace(0, max_rate, 2)]
        self.stack = Stack(width, rates, gate=0.5, norm=Norm)
        self.again = Stack(width, np.linspace(0, max_rate, 2).tolist())
        self.head = HEADS[kind](width)
        self.rows = np.eye(width).shape[0]
        self.register_buffer("order", torch.tensor([1, 0, 2, 3]))
        for at in range(2):
            self.register_buffer(f"noise_{at}", torch.randn(width))

    def pick(self, table, at):
        return table[at].view(-1, 1)

    def forward(self, batch: Batch, model, edges, owner=None):
        x = self.again(self.stack(batch.x))
        source, target = edges
        rows = torch.randint(0, x.shape[0], (4,))
        x = torch.relu(x)
        x = x.index_add(0, target, x[source]) + (x * 2)[rows].mean()
        x = x * self.pick(self.noise_0 * 2, edges[0]) + x[:, self.order].sum()
        if model.training_steps > 3 and owner is not None:
            x = model.embed(x) * owner.scale
        shown = dict(dict(zip(("a", "b"), (x, x))), c=x)
        for at in range(2):
            x = x + getattr(self, f"noise_{at}")
        mean = x.mean().expand(list(x.shape[:-1]) + [self.rows])
        return {**shown, "x": self.head(x), "mean": mean}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    print(parser.parse_args())
"""
