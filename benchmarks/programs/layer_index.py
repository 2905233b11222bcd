"""Layers that are compiled one by one and differ in a number of their own: their code is the same, so each number is
a version of it.

No buffer and no warm-up helps: the values differ between instances. Compiled as one model, each layer is traced in
its place and nothing is compiled again.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Layer(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x) / (1 + self.index)  # want: recompile attribute x3 "self.index"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(index) for index in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = Net()
if CURED:
    net.compile(backend="eager")
else:
    for layer in net.layers:
        layer.compile(backend="eager")
for _ in range(3):
    with torch.no_grad():
        net(torch.randn(4, 8))
