"""A program that compiles nothing, with the ways in which a module is called."""

import sys
import threading

import torch
from losses import loss
from torch import nn


class Sub(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        print("in sub")  # breaks
        return self.linear(x)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.sub = Sub(width)

    def forward(self, x):
        y = self.sub(x)
        if y.sum() > 1e9:  # breaks too
            y = y * 2
        return y


class Refusing(nn.Module):
    def forward(self, x):
        if x.shape[0] != 2:
            raise ValueError("two rows are wanted")
        return x


class Compiled(nn.Module):
    def forward(self, x):
        return x + 1


def main():
    torch.manual_seed(0)
    for width in (4, 6, 8):  # each instance is compiled by itself
        net = Net(width)
        for rows in (2, 2):
            x = torch.randn(rows, width, requires_grad=True)
            out = nn.functional.dropout(net(x))
            out.sum().backward()
            print(out.sum().item(), x.grad.sum().item())
    try:
        Refusing()(torch.randn(3))
    except ValueError as problem:
        print(type(problem).__name__, problem)
    print(loss(torch.ones(3), torch.zeros(3)).item())
    torch.jit.trace(nn.Linear(4, 4), torch.randn(2, 4))(torch.randn(2, 4))
    torch.func.vmap(nn.Linear(4, 4))(torch.randn(5, 2, 4))
    torch.compile(Compiled(), backend="eager")(torch.ones(2))
    thread = threading.Thread(target=lambda: print(net(torch.ones(1, 8)).sum().item()))
    thread.start()
    thread.join()
    print(nn.Module._compiled_call_impl is None, file=sys.stderr)


if __name__ == "__main__":
    main()
