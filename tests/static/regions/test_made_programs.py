"""Programs whose `make()` gives what is compiled, each measured under torch 2.13 in three calls: what is marked breaks
or compiles again, and nothing else does."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = """\
import functools
import warnings
from collections import defaultdict
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import nn

"""
PROGRAMS = {
    "Dynamo does not resume behind the read of a cached property": """
        class Grid:
            @functools.cached_property
            def points(self):
                return torch.ones(4)

            @functools.cached_property
            def area(self):
                return 4

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.grid = Grid()

            def forward(self, x):
                x = x * self.grid.points  # BRK524
                return x / self.grid.area

        def make():
            return Net(), (torch.ones(4),), {}
    """,
    "what warns once does so in the first call": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.warned = False

            def forward(self, x, mask=None):
                if mask is not None:
                    if not self.warned:
                        warnings.warn("mask is deprecated")  # BRK403
                        self.warned = True  # BRK706
                    x = x * mask
                return x * 2

        def make():
            return Net(), (torch.ones(4), torch.ones(4)), {}
    """,
    "an object that a defaultdict makes has no name yet": """
        class Meter:
            def __init__(self):
                self.total = 0.0

            def update(self, value):
                self.total = self.total + float(value)  # BRK202 BRK701

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.meters = defaultdict(Meter)

            def forward(self, x):
                y = x + 1
                self.meters["loss"].update(y.sum())  # BRK558
                self.meters["norm"].update(y.norm())
                return y

        def make():
            return Net(), (torch.ones(4),), {}
    """,
    "methods that an optimizer and a scheduler of one's own have from torch": """
        class Plain(torch.optim.Optimizer):
            def __init__(self, params, lr=0.1):
                super().__init__(params, dict(lr=lr))

            @torch.no_grad()
            def step(self):
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad is not None:
                            p.add_(p.grad, alpha=-group["lr"])

        class Louder(torch.optim.SGD):
            def zero_grad(self, set_to_none=True):
                super().zero_grad(set_to_none)  # BRK603

        class Steady(torch.optim.lr_scheduler.LRScheduler):
            def get_lr(self):
                return [0.1 for _ in self.optimizer.param_groups]

        class Trainer:
            def __init__(self):
                model = nn.Linear(3, 1)
                self.plain = Plain(model.parameters())
                self.louder = Louder(model.parameters(), lr=0.1)
                self.scheduler = Steady(self.louder)

            def __call__(self, x):
                self.plain.zero_grad()  # BRK603
                self.louder.zero_grad()
                y = x + 1
                self.plain.step()
                self.scheduler.step()  # BRK603
                return y + 1

        def make():
            return Trainer(), (torch.ones(3),), {}
    """,
    "a number that the region sets before it counts on": """
        class Env:
            def __init__(self):
                self.t = 0

            def reset(self):
                self.t = 0

            def step(self, x):
                self.t += 1
                return x + self.t, self.t >= 3

        env = Env()

        def roll(x):
            env.reset()
            done = False
            while not done:
                x, done = env.step(x)
            return x

        def make():
            return roll, (torch.ones(3),), {}
    """,
    "the same where what counts is compiled by itself": """
        class Env:
            def __init__(self):
                self.t = 0

            def reset(self):
                self.t = 0

            def step(self, x):
                self.t += 1  # BRK701
                return x + self.t

        env = Env()

        def roll(x):
            env.reset()
            for _ in range(4):
                x = env.step(x)
                if x.sum() > 100:  # BRK101
                    break
            return x

        def make():
            return roll, (torch.ones(3),), {}
    """,
    "an object has what a protocol names": """
        @runtime_checkable
        class Callback(Protocol):
            def on_layer(self, h): ...

        class Norms:
            def __init__(self):
                self.norms = []

            def on_layer(self, h):
                self.norms.append(h.norm())  # BRK703

        class Other:
            def __init__(self):
                self.seen = []

            def on_batch(self, h):
                self.seen.append(h.norm())

            on_end = on_batch

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.callbacks = [Norms(), Other()]

            def forward(self, x):
                for callback in self.callbacks:
                    if isinstance(callback, Callback):
                        callback.on_layer(x)
                return x * 2

        def make():
            return Net(), (torch.ones(3),), {}
    """,
    "what requires grad is written into a cache that is an argument": """
        class Slot(NamedTuple):
            k: torch.Tensor
            v: torch.Tensor

        class Cache:
            def __init__(self):
                self.slots = [Slot(torch.zeros(2, 3), torch.zeros(2, 3)) for _ in range(2)]

            def update(self, layer, k, v):
                slot = self.slots[layer]
                slot.k.copy_(k)  # BRK718
                slot.v[:1] = v.detach()[:1]
                return slot

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.kv = nn.Linear(3, 6)

            def forward(self, x, cache):
                k, v = self.kv(x).view(2, 2, 3).permute(1, 0, 2)
                k, v = cache.update(0, k, v)
                return x + k + v

        def make():
            return Net(), (torch.ones(2, 3), Cache()), {}

        def calls():
            cache = Cache()
            for _ in range(3):
                yield torch.ones(2, 3), cache
    """,
    "trees of other forms": """
        class Node:
            def __init__(self, x=None, left=None, right=None):
                self.x, self.left, self.right = x, left, right

            @property
            def is_leaf(self):
                return self.left is None

        def leaf():
            return Node(torch.ones(3))

        class Net(nn.Module):
            def encode(self, node):
                if node.is_leaf:
                    return node.x
                return self.encode(node.left) + self.encode(node.right)

            def forward(self, root):
                return self.encode(root)  # BRK711

        def make():
            return Net(), (Node(None, Node(None, leaf(), leaf()), leaf()),), {}

        def calls():
            yield (Node(None, Node(None, leaf(), leaf()), leaf()),)
            yield (Node(None, leaf(), leaf()),)
    """,
    "nothing is compiled where no tensor is left behind a break": """
        def texts(scores, rows):
            found = []
            for score, row in zip(scores, rows.tolist()):  # BRK204
                found.append((score, row[0]))
            print(found)
            return found

        class Net(nn.Module):
            def forward(self, x):
                return texts([1.0, 2.0], x.topk(1).indices)

        def make():
            return Net(), (torch.randn(2, 4),), {}
    """,
    "texts and numbers of the standard library are no tensors": """
        import json
        import zlib

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.config = {"dim": 4}

            def key(self):
                text = json.dumps(self.config)  # BRK512
                number = zlib.crc32(text.encode())
                return zlib.crc32(str(number).encode())

            def forward(self, x):
                return x * self.key()

        def make():
            return Net(), (torch.randn(2, 4),), {}
    """,
    "it is where the function has the tensor still": """
        def texts(rows):
            found = rows.tolist()  # BRK204
            print(found)  # BRK401
            return len(found) * rows

        class Net(nn.Module):
            def forward(self, x):
                return texts(x.topk(1).indices)

        def make():
            return Net(), (torch.randn(2, 4),), {}
    """,
    "a hook changes a dict by the method": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(2, 2)
                self.norms = {}

            def forward(self, x):
                y = self.linear(x)
                y.register_hook(lambda g: self.norms.__setitem__("y", g.norm()))  # BRK613
                return y.sum()

        def make():
            return Net(), (torch.ones(2, 2),), {}
    """,
    "a number that a local leads to": """
        class Mean(nn.Module):
            def __init__(self):
                super().__init__()
                self.count = 0.5

            def forward(self, x):
                total = self.count + x.shape[0]
                y = x * (self.count / total)
                self.count = total  # BRK701
                return y

        def make():
            return Mean(), (torch.ones(3),), {}
    """,
    "methods of dates": """
        import datetime as dt
        from datetime import date

        DAY = date(2024, 1, 1)

        def calendar(day: dt.date):
            return [day.month / 12, day.weekday() / 7]  # BRK521

        class Net(nn.Module):
            def forward(self, x, day, span):
                y = x * DAY.toordinal()  # BRK521
                z = y + span.total_seconds()  # BRK521
                return z + torch.tensor(calendar(day))

        def make():
            return Net(), (torch.ones(2), dt.date(2024, 5, 17), dt.timedelta(days=1)), {}
    """,
    "a function under no_grad writes what requires none": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.register_buffer("bank", torch.zeros(2, 3))

            @torch.no_grad()
            def keep(self, y):
                self.bank.copy_(y)

            def forward(self, x):
                y = self.linear(x) + self.bank
                self.keep(y)
                return y

        def make():
            return Net(), (torch.randn(2, 3),), {}
    """,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_is_marked_is_found_and_nothing_else(what, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[what]).lstrip("\n")
    assert set(found(analysed(tmp_path, {"run.py": source}, "run.py::make"))) == marked(source)
