"""Numbers on a module that a schedule changes: an int that counts up, and a float. An int compiles again for each
value until its limit is reached; a float settles after its second.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Warmup(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        if CURED:
            self.register_buffer("epoch", torch.zeros((), dtype=torch.long))
        else:
            self.epoch = 0

    def forward(self, x):
        return self.fc(x) * (1 + self.epoch)  # want: recompile attribute x5 "self.epoch"


model = Warmup()
step = torch.compile(model, backend="eager")
for epoch in range(6):
    if CURED:
        model.epoch.fill_(epoch)
    else:
        model.epoch = epoch
    for _ in range(2):
        step(torch.randn(4, 8))
