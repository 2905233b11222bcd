"""Two towers of one class, each compiled by itself: the code is one, their sizes are not, so that one is compiled
again for the other.

Compiled as one model, each is traced in its place.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Tower(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.fc = nn.Linear(inputs, width)

    def forward(self, x):  # want: recompile size x1 "another instance than before is called"
        x = self.fc(x).relu()
        return x / x.norm(dim=-1, keepdim=True)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = Tower(6, 16), Tower(10, 16)

    def forward(self, users, items):
        return self.users(users), self.items(items)


both = Both()
if CURED:
    both.compile(backend="eager")
else:
    both.users.compile(backend="eager")
    both.items.compile(backend="eager")
for _ in range(3):
    users, items = both(torch.randn(8, 6), torch.randn(8, 10))
    (users @ items.T).logsumexp(-1).mean().backward()
