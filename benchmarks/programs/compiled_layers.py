"""Three layers, each compiled by itself, in training: one case for the input that needs no gradient, then batches
of three sizes.

The first layer's input needs no gradient and that of the others does: two versions, whatever is done. The batch
size compiles each of the two once more.

cured: breaks 0, recompiles 1
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    # want below: recompile size x2 "dimension 0 of `x`"; recompile requires_grad x1
    def forward(self, x):
        return torch.relu(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            torch.compile(Layer(), backend="eager", dynamic=True if CURED else None)
            for _ in range(3)
        )

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in (4, 5, 6):
    loss = net(torch.randn(batch, 8)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
