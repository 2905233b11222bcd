"""A generator and a discriminator, both of torch's own `nn.Sequential`: torch compiles such modules behind one wrapper,
so that one is compiled again for the other.

With a class of its own each has code of its own.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x)


class Discriminator(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x)


one = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
other = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
if CURED:
    one, other = Generator(one), Discriminator(other)
generate = torch.compile(one, backend="eager")
judge = torch.compile(other, backend="eager")
for _ in range(3):
    made = generate(torch.randn(8, 4)).detach()
    real = judge(torch.randn(8, 8))  # want: recompile size x1 "another module than before"
    loss = cross_entropy(real, torch.ones(8, 1)) + cross_entropy(judge(made), torch.zeros(8, 1))
    loss.backward()
