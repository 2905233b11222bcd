"""Targets for the child process: how they behave is in their names."""

import os
import subprocess
import sys
import time

import torch


class Clean(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def clean():
    return Clean(), (torch.randn(2, 4),), {}


def pair():
    return Clean(), (torch.randn(2, 4),)


class NeedsInputs(torch.nn.Module):
    def forward(self, x, mask):
        return x * mask


class NeedsSizes(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width


class NoInputs(Clean):
    def forward(self):
        print("broken here")
        return self.linear(torch.ones(2, 4))


instance = Clean()


def two_calls():
    return [(torch.randn(2, 4),), ((torch.randn(3, 4),), {})]


def no_calls():
    return []


def drives(call, model):
    for _ in range(2):
        model.linear.weight.grad = None
        call(torch.randn(2, 4)).sum().backward()


def function(x):
    return x + x.sum().item()


def function_calls():
    return [torch.ones(3), torch.ones(3)]


def hang(x):
    while True:
        time.sleep(0.01)


def hangs():
    return hang, (torch.ones(2),), {}


def greedy(x):
    hoard = []
    while True:
        hoard.append(torch.ones(1 << 24))


def wants_memory():
    return greedy, (torch.ones(2),), {}


def speak(x):
    print("a line for stdout")
    os.write(1, b"[" * 3_000_000)
    subprocess.run([sys.executable, "-c", "print('from a subprocess')"], check=True)
    return x + 1


def speaks():
    return speak, (torch.ones(2),), {}


class DiesInEager(torch.nn.Module):
    def forward(self, x):
        if not torch.compiler.is_compiling():
            os._exit(7)
        return x


def dies_in_eager():
    return DiesInEager(), (torch.ones(2),), {}


def raise_deep(x):
    return raise_deeper(x)


def raise_deeper(x):
    raise ValueError(f"cannot use a tensor of shape {tuple(x.shape)}")


def raises_in_eager():
    return raise_deep, (torch.ones(2),), {}


COLD: dict = {}


def remember(x):
    """Breaks only while the process is cold: an eager call in the same process would hide it."""
    if not COLD:
        print("filling")
        COLD["full"] = True
    return x + 1


def cold():
    return remember, (torch.ones(2),), {}


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return helper(gradient) * 2


@torch.compile(backend="eager")
def helper(gradient):
    print("in the backward pass")
    return gradient + 0


class BackwardBreaks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return outside(x * self.weight)


@torch.compiler.disable
def outside(x):
    return Scaled.apply(x)


def backward_breaks():
    return BackwardBreaks(), (torch.ones(3),), {}


def odd_batch(x):
    if x.shape[0] != 2:
        raise RuntimeError("only two rows")
    return x + 1


def fixed_batch():
    return odd_batch, (torch.ones(2, 3),), {}


def divisor(x):
    assert 12 % len(x) == 0, "no divisor of 12"
    return x * 2


def some_batches():
    return divisor, (torch.ones(3, 4),), {}


class Remembering(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x, cache):
        cache[0] = self.weight * cache[0] + x
        return cache[0]


def remembers():
    return Remembering(), (torch.ones(2, 3), [torch.zeros(2, 3)]), {}


def limit(x, k):
    return x + 1 if k == "none of these" else x - 1


def many_strings():
    return limit, (torch.ones(2), "0"), {}


def strings():
    return [(torch.ones(2), str(n)) for n in range(12)]


weights = torch.nn.Linear(2, 2)
descent = torch.optim.SGD(weights.parameters(), lr=0.1)


def step():
    descent.step()


def optimizer_step():
    for parameter in weights.parameters():
        parameter.grad = torch.ones_like(parameter)
    return step, (), {}


class Stacked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4, momentum=None)  # reads how many batches it has seen

    def forward(self, x):
        x = x + 1
        return self.norm(x)


def stacked():
    return Stacked(), (torch.ones(3, 4),), {}


def gives_a_module_alone():
    return NeedsInputs()


def gives_a_bare_tensor():
    return Clean(), torch.ones(2, 4)


def gives_too_much():
    return Clean(), (torch.ones(2, 4), 1), {}


def hides_a_module():
    return {"model": Clean(), "x": torch.ones(2, 4)}


async def waits():
    return Clean()
