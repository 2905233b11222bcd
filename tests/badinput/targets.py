"""Targets that misbehave, each in its own way: the factory's name says how.

Each model first runs one line that breaks the graph (marked `# breaks`), then misbehaves, and does
both only when it is compiled: the first call in eager mode, if a run makes one, passes.
"""

import ctypes
import os
import subprocess
import sys
import time

import torch

NOT_CALLABLE = 42


class Model(torch.nn.Module):
    def __init__(self, misbehave):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.misbehave = torch.compiler.disable(misbehave)

    def forward(self, x):
        if torch.compiler.is_compiling():
            print("compiled")  # breaks
            self.misbehave()
        return self.linear(x)


def factory(misbehave):
    return lambda: (Model(misbehave), (torch.randn(2, 4),), {})


def raise_error():
    raise ValueError("the target's own error")


def print_megabytes():
    for _ in range(20):
        print("{" * 500_000)
        sys.stderr.write("}" * 500_000)
        os.write(1, b"[" * 500_000)


def fork():
    if os.fork() == 0:  # the child goes on with the parent's work, as a forgotten `else` would
        return
    subprocess.Popen(["sleep", "600"])  # keeps our pipes open, and nobody waits for it


def take_memory():
    hoard = []
    while True:
        hoard.append(b"x" * (1 << 28))


def raise_in_factory():
    raise KeyError("no such checkpoint")


def give_arguments_bare():
    return Model(print), torch.randn(2, 4)


raises = factory(raise_error)
exits = factory(lambda: sys.exit(3))
exits_hard = factory(lambda: os._exit(0))
hangs = factory(lambda: time.sleep(600))
segfaults = factory(lambda: ctypes.string_at(0))
prints = factory(print_megabytes)
forks = factory(fork)
greedy = factory(take_memory)
interrupts = factory(lambda: os.kill(os.getpid(), 2))
