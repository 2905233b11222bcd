import torch
from torch import nn
from torch._dynamo import graph_break


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x > 0)


class Alone(nn.Module):
    """The call is all that its blocks have, under its own name and under another."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x, y):
        if x.dim() > 1:
            graph_break()
        elif x.numel() == 0:
            torch._dynamo.graph_break()
        else:
            print("small", x.dim())
        for part in (x, y):
            graph_break()
            with torch.no_grad():
                self.seen += part.numel()
        if x.is_floating_point():
            x = Gate.apply(x)
        else:
            torch._dynamo.graph_break()
        return self.drop(x.float()), y / x


def make():
    return Alone()
