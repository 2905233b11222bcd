import torch
from torch import nn


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.weight = nn.Parameter(torch.tensor(0.5))

    def forward(self, x, y):
        self.calls += 1
        if x.dim() > 1:
            torch._dynamo.graph_break()
        for _ in range(2):
            torch._dynamo.graph_break(msg="each time")
            x = torch.sin(x) * torch.rand(())
        torch._dynamo.graph_break()
        return x @ y if x.dim() == 2 else x * self.weight, y


def make():
    return Halves()
