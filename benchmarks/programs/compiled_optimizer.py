"""An optimizer's step compiled, and a scheduler that changes the learning rate in every step: a float is a constant
of the graph, a tensor is not.

cured: breaks 1, recompiles 0
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)
model = nn.Linear(8, 4)
rate = torch.tensor(0.1) if CURED else 0.1
optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)


@torch.compile(backend="eager", fullgraph=False)
def update():
    optimizer.step()  # want: recompile optimizer_state "lr"; break


for _ in range(5):
    model(torch.randn(4, 8)).square().mean().backward()
    update()
    scheduler.step()
    optimizer.zero_grad()
