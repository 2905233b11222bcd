"""What the code around a region makes is followed step by step: what its generators, loaders, helpers and
random numbers give. Each program was measured under torch 2.13: it compiles again for what is marked, and
for nothing else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import argparse
import collections
import contextlib
import functools
import itertools
import random

import numpy as np
import torch
import tqdm
from torch import nn
from torch.utils.data import DataLoader, random_split


@torch.compile
def step(x, *more):
    return x + sum(m.sum() for m in more)  # SIZE


@torch.compile
def scaled(x, number):
    return x * number  # NUMBER


@torch.compile
def applied(x, function):
    return function(x)  # FUNCTION


"""
PROGRAMS = {
    "a tensor of one number as an index": (
        "INDEX BRK733",
        """
        @torch.compile
        def row(table, at):
            return table[at, 0] * 2  # INDEX

        def main():
            for number in range(3):
                row(torch.ones(10, 4), torch.tensor(number))
        """,
    ),
    "rows of indices": (
        "INDEX BRK733",
        """
        @torch.compile
        def row(table, at):
            table = table.clone()
            table[at] = 0.0  # INDEX
            return table

        def main():
            for at in torch.arange(3):
                row(torch.ones(10, 4), at)
        """,
    ),
    "attributes of vars": (
        "BEHIND BRK702",
        """
        class Weights:
            def __init__(self):
                self.smooth = 1.0

        class Loss(nn.Module):
            def __init__(self, weights):
                super().__init__()
                self.weights = weights

            def forward(self, x):
                for name, weight in vars(self.weights).items():  # BEHIND
                    x = x * weight
                return x

        def main():
            weights = Weights()
            loss = torch.compile(Loss(weights))
            for number in range(3):
                weights.smooth = number / 2
                loss(torch.ones(3))
        """,
    ),
    "letters that are drawn": (
        "SIZE BRK712",
        """
        def main():
            for _ in range(3):
                name = "".join(random.choice("abc") for _ in range(random.randint(3, 60)))
                step(torch.ones(len(name)))
        """,
    ),
    "buckets of drawn texts": (
        "SIZE BRK712",
        """
        def bound(text):
            return next(n for n in (16, 32, 64) if len(text) <= n)

        def main():
            buckets = collections.defaultdict(list)
            for _ in range(20):
                text = "".join(random.choice("abc") for _ in range(random.randint(3, 60)))
                buckets[bound(text)].append(text)
            for size, texts in buckets.items():
                step(torch.ones(size))
        """,
    ),
    "an iterator of one's own beside a range": (
        "NUMBER BRK708",
        """
        class Around:
            def __init__(self, items):
                self.items = itertools.cycle(items)

            def __iter__(self):
                return self

            def __next__(self):
                return next(self.items)

        def main():
            for _, number in zip(range(6), Around([1, 2, 3])):
                scaled(torch.ones(3), number)
        """,
    ),
    "the last turn of an inner loop": (
        "NUMBER BRK709",
        """
        def main():
            loader = DataLoader(torch.ones(80, 3), batch_size=8)
            full = len(loader) // 4 * 4
            for epoch in range(2):
                for i, batch in enumerate(loader):
                    scaled(batch, 1 / (4 if i < full else len(loader) - full))
        """,
    ),
    "parameters that stages set free by name": (
        "FUNCTION BRK718",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stem, self.head = nn.Linear(3, 3), nn.Linear(3, 3)

            def forward(self, x):
                return self.head(self.stem(x))  # FUNCTION

        def main():
            net = Net()
            compiled = torch.compile(net)
            for names in (("head",), ("head", "stem")):
                for parameter in net.parameters():
                    parameter.requires_grad = False
                for name in names:
                    for parameter in getattr(net, name).parameters():
                        parameter.requires_grad = True
                compiled(torch.ones(3))
        """,
    ),
    "what a filter leaves": (
        "SIZE BRK712",
        """
        seen = {}

        def ask(names):
            missing = [name for name in names if name not in seen]
            if missing:
                for name, row in zip(missing, step(torch.stack([torch.ones(3) for _ in missing]))):
                    seen[name] = row

        for names in (["a", "b"], ["a", "b", "c"], ["d", "e", "f", "g"]):
            ask(names)
        """,
    ),
    "commands that are run unless others are given": (
        "SIZE BRK712",
        """
        import sys

        def main(names):
            for name in names or ["train", "go"]:
                step(torch.ones(len(name)))

        main(sys.argv[1:])
        """,
    ),
    "a closure that an optimizer calls": (
        "SIZE BRK712",
        """
        class Fit:
            def __init__(self):
                self.net = nn.Linear(3, 1)
                self.opt = torch.optim.LBFGS(self.net.parameters())

            def closure(self):
                loss = step(self.x).sum()
                return loss

            def run(self, x):
                self.x = x
                self.opt.step(self.closure)

        fit = Fit()
        for n in (10, 14):
            fit.run(torch.ones(n, 3, requires_grad=True))
        """,
    ),
    "texts that a command line has unless somebody says otherwise": (
        "SIZE BRK712",
        """
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("texts", nargs="*", default=["one", "three", "seventeen"])
            for text in parser.parse_args().texts:
                step(torch.tensor([[ord(letter) for letter in text]]))

        main()
        """,
    ),
    "another try with another number": (
        "NUMBER BRK709",
        """
        def main():
            number = 0.0
            for attempt in range(4):
                try:
                    return scaled(torch.ones(2), number)
                except RuntimeError:
                    number = 1e-6 * 10**attempt
        """,
    ),
    "an item of a dict in a dict": (
        "INNER BRK709",
        """
        @torch.compile
        def scale(x, cfg):
            return x * cfg["model"]["scale"]  # INNER

        def main():
            for number in (1.0, 0.5, 2.0):
                scale(torch.ones(2), {"model": {"scale": number}, "seed": 1})
        """,
    ),
    "tensors in dicts in a list": (
        "INNER BRK712",
        """
        @torch.compile
        def total(targets):
            return sum(target["boxes"].sum() for target in targets)  # INNER

        def main():
            for number in (2, 3, 4):
                total([{"boxes": torch.ones(number, 4), "id": number} for _ in range(2)])
        """,
    ),
    "a number of a layer in nn.Sequential": (
        "net(torch.ones(2, 2)) BRK702",
        """
        def main():
            model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
            net = torch.compile(model)
            for epoch in range(3):
                for layer in model.modules():
                    if isinstance(layer, nn.BatchNorm1d):
                        layer.momentum = 1 / (epoch + 1)
                net(torch.ones(2, 2))
        """,
    ),
    "a view of int32": (
        "SIZE BRK717",
        """
        def main():
            prompt = torch.tensor([3, 4, 5], dtype=torch.int)
            step(prompt.view(1, -1))
            step(torch.tensor([[3, 4, 5]]))
        """,
    ),
    "a precision that a variable names": (
        "net(x.to(dtype)) BRK717",
        """
        def main():
            net, x = torch.compile(nn.Sequential(nn.Linear(2, 2))), torch.ones(2)
            with torch.no_grad():
                for dtype in (torch.float32, torch.bfloat16):
                    net = net.to(dtype)
                    net(x.to(dtype))
        """,
    ),
    "a layer that is deleted": (
        "in self.layers BRK702",
        """
        class Deep(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        def main():
            model = Deep()
            net = torch.compile(model)
            net(torch.ones(2))
            del model.layers[-1]
            net(torch.ones(2))
        """,
    ),
    "a hook that is taken off": (
        "net(x) BRK732",
        """
        def main():
            model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
            net, x = torch.compile(model), torch.ones(2, 2)
            handle = model[1].register_forward_hook(lambda module, args, out: out * 2)
            net(x)
            handle.remove()
            net(x)
        """,
    ),
    "a compiled transform": (
        "per_row(x) BRK712",
        """
        def main():
            def loss(row):
                return row.sin().sum()

            per_row = torch.compile(torch.func.vmap(torch.func.grad(loss)))
            for x in torch.ones(10, 3).split(4):
                per_row(x)
        """,
    ),
    "settings that __setattr__ keeps in a dict": (
        "self.values[name] BRK702",
        """
        class Settings:
            def __init__(self, **values):
                self.__dict__["values"] = dict(values)

            def __getattr__(self, name):
                return self.values[name]  # self.values[name]

            def __setattr__(self, name, value):
                self.values[name] = value

        settings = Settings(rate=1.0)

        @torch.compile
        def cooled(x):
            return x / settings.rate

        def main():
            for rate in (1.0, 2.0, 3.0):
                settings.rate = rate
                cooled(torch.ones(3))
        """,
    ),
    "a dict whose items are its attributes": (
        "self[name] BRK702",
        """
        class Settings(dict):
            def __getattr__(self, name):
                return self[name]

            def __setattr__(self, name, value):
                self[name] = value

        settings = Settings(rate=1.0)

        @torch.compile
        def cooled(x):
            return x / settings.rate

        def main():
            for rate in (1.0, 2.0, 3.0):
                settings.rate = rate
                cooled(torch.ones(3))
        """,
    ),
    "channels last under inference mode": (
        "SIZE BRK715",
        """
        def main():
            with torch.inference_mode():
                step(torch.rand(2, 3, 4, 4))
                step(torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last))
        """,
    ),
    "the largest of lengths in a tensor": (
        "SIZE BRK712",
        """
        def padded(rows):
            lengths = torch.tensor([len(row) for row in rows])
            return torch.zeros(len(rows), int(lengths.max()))

        def main():
            rows = [torch.randn(10 + 4 * at) for at in range(6)]
            for at in range(0, 6, 2):
                step(padded(rows[at : at + 2]))
        """,
    ),
    "a function that is applied to each module": (
        "if self.observes BRK702",
        """
        class Observer(nn.Module):
            def __init__(self):
                super().__init__()
                self.observes = True
                self.layer = nn.Linear(2, 2)

            def forward(self, x):
                if self.observes:
                    x = x + 1
                return self.layer(x)

        def freeze(module):
            if isinstance(module, Observer):
                module.observes = False

        def main():
            model = nn.Sequential(nn.Linear(2, 2), nn.ModuleList([Observer()])[0])
            net = torch.compile(model)
            net(torch.ones(3, 2))
            model.apply(freeze)
            net(torch.ones(3, 2))
        """,
    ),
    "the last part of a grid": (
        "SIZE BRK712",
        """
        def main(height=10, width=11, part=40):
            ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            points = torch.stack([xs - width / 2, ys, torch.ones(height, width)], -1).view(-1, 3)
            for at in range(0, points.shape[0], part):
                step(points[at : at + part])
        """,
    ),
    "a generator": (
        "SIZE BRK712",
        """
        def batches(rows, budget):
            batch = []
            for row in rows:
                batch.append(row)
                if sum(len(r) for r in batch) >= budget:
                    yield torch.cat(batch)
                    batch = []
            if batch:
                yield torch.cat(batch)

        def main():
            for x in batches([torch.ones(n) for n in (2, 3, 4, 5, 1)], 6):
                step(x)
        """,
    ),
    "an iterator of its own": (
        "SIZE BRK712",
        """
        class Chunks:
            def __init__(self, sizes):
                self.sizes = list(sizes)

            def __iter__(self):
                return self

            def __next__(self):
                if not self.sizes:
                    raise StopIteration
                return torch.ones(self.sizes.pop(0))

        def main():
            for x in Chunks([4, 6, 9]):
                step(x)
        """,
    ),
    "the batches of a loader one by one": (
        "SIZE BRK712",
        """
        def main():
            batches = iter(DataLoader(torch.ones(10, 3), batch_size=4))
            for _ in range(3):
                step(next(batches))
        """,
    ),
    "a collate function": (
        "SIZE BRK712",
        """
        def padded(rows):
            out = torch.zeros(len(rows), max(len(r) for r in rows))
            for i, r in enumerate(rows):
                out[i, : len(r)] = r
            return out

        def main():
            rows = [torch.ones(n) for n in (3, 5, 2, 7)]
            for x in DataLoader(rows, batch_size=2, collate_fn=padded):
                step(x)
        """,
    ),
    "a part of a dataset": (
        "SIZE BRK712",
        """
        def main():
            train, rest = random_split(torch.ones(10, 3), [8, 2])
            for data in (train, rest):
                for x in DataLoader(data, batch_size=4):
                    step(x)
        """,
    ),
    "rows that a mask chooses": (
        "SIZE BRK712",
        """
        def main():
            x = torch.arange(12.0)
            for limit in (9, 6):
                step(x[x < limit])
        """,
    ),
    "a random part": (
        "SIZE BRK712",
        """
        def main():
            random.seed(1)
            for _ in range(4):
                start = random.randint(0, 20)
                step(torch.ones(100)[start : start + random.choice([16, 32, 48])])
        """,
    ),
    "a helper that counts": (
        "SIZE BRK712",
        """
        def bucket(n):
            size = 8
            while size < n:
                size *= 2
            return size

        def main():
            for n in (5, 7, 12, 30):
                step(torch.ones(bucket(n)))
        """,
    ),
    "a variable of the closure": (
        "    return x * decay**turn BRK708",
        """
        def stepper(decay):
            turn = 0

            @torch.compile
            def update(x):
                return x * decay**turn

            def run(x):
                nonlocal turn
                turn += 1
                return update(x)

            return run

        def main():
            run = stepper(0.5)
            for _ in range(3):
                run(torch.ones(2))
        """,
    ),
    "a lambda in a loop": (
        "FUNCTION BRK720",
        """
        def main():
            for power in (1, 2, 3):
                applied(torch.ones(2), lambda x: x**power)
        """,
    ),
    "a partial of torch's": (
        "FUNCTION BRK720",
        """
        def main():
            for slope in (0.1, 0.2):
                applied(torch.ones(2), functools.partial(nn.functional.leaky_relu, negative_slope=slope))
        """,
    ),
    "a product": (
        "NUMBER BRK709",
        """
        def main():
            for a, b in itertools.product((0.5, 2.0), (1.0, 3.0)):
                scaled(torch.ones(2), a * b)
        """,
    ),
    "the rate of an optimizer": (
        "NUMBER BRK709",
        """
        def main():
            w = torch.zeros(3, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            for _ in range(3):
                scaled(torch.ones(3), optimizer.param_groups[0]["lr"])
                for group in optimizer.param_groups:
                    group["lr"] *= 0.5
        """,
    ),
    "a module of torch's": (
        "        net(y) BRK718",
        """
        def main():
            net = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
            x = torch.ones(3, 4)
            net(x).sum().backward()
            y = x.clone().requires_grad_(True)
            net(y)
        """,
    ),
    "no operation in the first call": (
        "        return x BRK828",
        """
        @torch.compile
        def maybe(x, is_on):
            if is_on:
                x = x * 2
            return x

        def main():
            for is_on in (False, True, False):
                maybe(torch.ones(2), is_on)
        """,
    ),
    "a copy whose parameters are frozen": (
        "        return self.linear(x) BRK718",
        """
        import copy

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(2, 2)

            def forward(self, x):
                return self.linear(x)

        def main():
            one = Net()
            two = copy.deepcopy(one)
            for p in two.parameters():
                p.requires_grad_(False)
            one, two = torch.compile(one), torch.compile(two)
            one(torch.ones(1, 2))
            two(torch.ones(1, 2))
        """,
    ),
    "the end of what grows": (
        "SIZE BRK715",
        """
        def main():
            ids = torch.ones(1, 8)
            for _ in range(3):
                step(ids[:, -8:])
                ids = torch.cat([ids, torch.ones(1, 1)], dim=1)
        """,
    ),
    "channels that are last": (
        "SIZE BRK715",
        """
        def main():
            x = torch.ones(2, 3, 8, 8)
            step(x)
            step(x.contiguous(memory_format=torch.channels_last))
        """,
    ),
    "a flag of a module in a container of torch's": (
        "FLAG BRK702",
        """
        class Adapter(nn.Module):
            enabled = True

            def forward(self, x):
                return x + 1 if self.enabled else x  # FLAG

        def main():
            adapter = Adapter()
            net = torch.compile(nn.Sequential(nn.Linear(2, 2), adapter))
            for flag in (True, False):
                adapter.enabled = flag
                net(torch.ones(2, 2))
        """,
    ),
    "flags in a list": (
        "FLAG BRK710",
        """
        class Deep(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

            def forward(self, x, keep):
                for layer, kept in zip(self.layers, keep):  # FLAG
                    if kept:
                        x = layer(x)
                return x

        def main():
            net = torch.compile(Deep())
            for _ in range(4):
                net(torch.ones(2, 2), [random.random() > 0.5 for _ in range(3)])
        """,
    ),
    "more and more pieces": (
        "SIZE BRK712",
        """
        def main():
            for count in (1, 2, 4):
                for x in torch.ones(16, 4).chunk(count):
                    step(x)
        """,
    ),
    "a sample of what grows": (
        "SIZE BRK712",
        """
        class Memory(list):
            def batch(self, most):
                return torch.stack(random.sample(self, min(most, len(self))))

        def main():
            memory = Memory()
            for _ in range(4):
                memory.append(torch.ones(3))
                step(memory.batch(2))
        """,
    ),
    "drawn tokens": (
        "SIZE BRK712",
        """
        def main():
            tokens = torch.ones(1, 2, dtype=torch.long)
            for _ in range(3):
                drawn = torch.multinomial(torch.ones(1, 9), 1)
                tokens = torch.cat([tokens, drawn], 1)
                step(torch.maximum(tokens, tokens * 2))
        """,
    ),
    "what comes from outside of inference mode": (
        "SIZE BRK718",
        """
        @torch.inference_mode()
        def main(x=torch.ones(3)):
            for _ in range(3):
                x = step(x) + 1

        main()
        """,
    ),
    "the last batch, padded under inference mode": (
        "SIZE BRK718",
        """
        def main():
            rows = torch.ones(10, 2)
            with torch.inference_mode():
                for x in rows.split(4):
                    missing = 4 - x.size(0)
                    step(nn.functional.pad(x, (0, 0, 0, missing)) if missing else x)
        """,
    ),
    "numbers of an array": (
        "NUMBER BRK709",
        """
        def main():
            for rate in np.geomspace(0.1, 0.001, 4):
                scaled(torch.ones(3), float(rate))
        """,
    ),
    "numbers of an array's list": (
        "NUMBER BRK709",
        """
        def main():
            for rate in np.linspace(0.1, 1.0, num=3).tolist():
                scaled(torch.ones(3), rate)
        """,
    ),
    "a tensor that requires grad from its beginning": (
        "SIZE BRK718",
        """
        def main():
            x = torch.ones(3)
            moved = x + torch.zeros_like(x, requires_grad=True)
            step(moved)
            step(moved.detach())
        """,
    ),
    "a dict that the first call fills": (
        "KEY BRK704",
        """
        FOUND = {}

        @torch.compile
        def kept(x):
            FOUND["last"] = x + 1  # KEY
            return x * 2

        def main():
            for _ in range(2):
                kept(torch.ones(3))
        """,
    ),
    "a dict that a hook fills in a container of torch's": (
        "KEY BRK704",
        """
        FOUND = {}

        def keep(module, given, made):
            FOUND["last"] = made  # KEY

        def main():
            net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
            net[0].register_forward_hook(keep)
            run = torch.compile(net)
            for _ in range(2):
                run(torch.ones(3, 2))

        main()
        """,
    ),
    "what a convolution makes smaller and smaller": (
        "SIZE BRK712",
        """
        def main():
            x = torch.ones(1, 1, 64, 64)
            for _ in range(3):
                x = nn.functional.conv2d(x, torch.ones(1, 1, 3, 3), padding=1)[..., ::2, ::2].contiguous()
                step(x)
        """,
    ),
    "sizes that are drawn": (
        "SIZE BRK712",
        """
        def main():
            for _ in range(4):
                size = random.choice([4, 6, 8])
                step(nn.functional.interpolate(torch.ones(1, 3, 8, 8), size=(size, size)))
        """,
    ),
    "batches that a sampler lists": (
        "SIZE BRK712",
        """
        class Rows(torch.utils.data.Dataset):
            def __getitem__(self, number):
                return torch.ones(2 + number // 2)

        class Pairs:
            def __iter__(self):
                yield [0, 1]
                yield [2, 3]

        def main():
            for x in DataLoader(Rows(), batch_sampler=Pairs()):
                step(x)
        """,
    ),
    "the last batch of a stream": (
        "SIZE BRK712",
        """
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                for number in range(10):
                    yield torch.full((3,), float(number))

        def main():
            for x in DataLoader(Stream(), batch_size=4):
                step(x)
        """,
    ),
    "letters of texts": (
        "SIZE BRK712",
        """
        def main():
            for text in ("hello", "bye"):
                step(torch.tensor(list(text.encode())))
        """,
    ),
    "one row where sizes are dynamic": (
        "ROWS BRK712",
        """
        def mean(x):
            return x.mean(0)  # ROWS

        def main():
            run = torch.compile(mean, dynamic=True)
            for rows in (4, 3, 1):
                run(torch.ones(rows, 2))
        """,
    ),
    "the rate of a layer in a container": (
        "LAYERS BRK702",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))

            def set_rate(self, rate):
                for module in self.modules():
                    if isinstance(module, nn.Dropout):
                        module.p = rate

            def forward(self, x):
                return self.layers(x)  # LAYERS

        def main():
            net = Net()
            run = torch.compile(net)
            for rate in (0.5, 0.3, 0.1):
                net.set_rate(rate)
                run(torch.ones(2, 2))
        """,
    ),
    "a member of an enum": (
        "PHASE BRK710",
        """
        import enum

        class Phase(enum.IntEnum):
            FIRST = 0
            LATER = 1

        class Net(nn.Module):
            def forward(self, x, phase):
                return x + 1 if phase == Phase.FIRST else x * 2  # PHASE

        def main():
            run = torch.compile(Net())
            for phase in (Phase.FIRST, Phase.LATER):
                run(torch.ones(2), phase)
        """,
    ),
    "objects that are made in a list": (
        "SIZE BRK712",
        """
        import dataclasses

        @dataclasses.dataclass
        class Graph:
            nodes: torch.Tensor
            edges: torch.Tensor

        def main():
            graphs = [Graph(torch.ones(2 + n, 3), torch.ones(n, 2)) for n in range(1, 7)]
            for start in range(0, 6, 2):
                step(torch.cat([graph.nodes for graph in graphs[start : start + 2]]))
        """,
    ),
    "a counter of an object that the module is given": (
        "self.count BRK701",
        """
        class Statistics:
            def __init__(self):
                self.count = 0

            def update(self, rows):
                self.count += len(rows)

        class Policy(nn.Module):
            def __init__(self, statistics):
                super().__init__()
                self.statistics = statistics

            def forward(self, x):
                self.statistics.update(x)
                return x / self.statistics.count

        def rollout(policy, steps):
            for _ in range(steps):
                policy(torch.ones(2, 3))

        def main():
            rollout(torch.compile(Policy(Statistics())), 3)
        """,
    ),
    "what a queue gives": (
        "SIZE BRK712",
        """
        import queue

        def main():
            waiting = queue.Queue(maxsize=4)
            for n in (2, 3):
                waiting.put({"obs": torch.ones(n)})
            while not waiting.empty():
                step(waiting.get()["obs"])
        """,
    ),
    "a class in a function, with the variables of that call": (
        "act(x) BRK720",
        """
        def built(act):
            class Net(nn.Module):
                def forward(self, x):
                    return act(x)

            return Net()

        def main():
            nets = [built(act) for act in (torch.relu, torch.tanh)]
            for net in nets:
                torch.compile(net)(torch.ones(3))
        """,
    ),
    "items of a dataset, each with its size": (
        "SIZE BRK712",
        """
        class Clips(torch.utils.data.Dataset):
            FRAMES = {"a": 3, "b": 4}

            def __init__(self):
                self.names = sorted(self.FRAMES)

            def __len__(self):
                return len(self.names)

            def __getitem__(self, at):
                return torch.ones(self.FRAMES[self.names[at]]), at

        def main():
            for x, y in DataLoader(Clips(), batch_size=1):
                step(x)
        """,
    ),
    "what a pattern finds": (
        "NUMBER BRK709",
        """
        import re

        def main():
            for text in ("rate 12", "no rate"):
                match = re.search(r"rate (\\d+)", text)
                scaled(torch.ones(3), float(match.group(1)) if match else 0.5)
        """,
    ),
    "rows of a table": (
        "SIZE BRK712",
        """
        import csv
        import io

        def numbers(text):
            return torch.tensor([float(row["a"]) for row in csv.DictReader(io.StringIO(text))])

        def main():
            step(numbers("a,b\\n1,2\\n3,4\\n"))
            step(numbers("b,a\\n1,2\\n"))
        """,
    ),
    "a count on an object of an object": (
        "SIZE BRK712",
        """
        class State:
            def __init__(self):
                self.steps = 0

        class Trainer:
            def __init__(self):
                self.state = State()

            def train(self, batch):
                step(batch)
                self.state.steps += 1
                if self.state.steps % 3 == 0:
                    step(torch.ones(2, 2))

        def main():
            trainer = Trainer()
            for _ in range(4):
                trainer.train(torch.ones(3, 2))
        """,
    ),
    "a long list of drawn edges": (
        "SIZE BRK712",
        """
        def main():
            chance = random.Random(0)
            near = collections.defaultdict(list)
            for a, b in [(chance.randrange(9), chance.randrange(9)) for _ in range(60)]:
                near[a].append(b)
            for n in range(9):
                step(torch.tensor(near[n]))
        """,
    ),
}
QUIET = {
    "positions of int32 that are counted up": """
    def main():
        position = torch.tensor([3], dtype=torch.int)
        for _ in range(3):
            step(position)
            position += 1
            step(position + 1)
            step(position.roll(-1).clone())
    """,
    "what is computed of a tensor in half precision": """
    def main():
        x = torch.ones(3, 4).half()
        step(x)
        step(x * 2)
        step(x.view(3, 4) + x)
        step(x.relu())
    """,
    "tensors of inference mode, whoever calls": """
    @torch.inference_mode()
    def generate(prompt):
        token = step(prompt.view(1, -1))
        for _ in range(3):
            token = step(token.view(1, -1))

    @torch.inference_mode()
    def main():
        generate(torch.tensor([1.0]))
    """,
    "indices of which none is a number that differs": """
        @torch.compile
        def row(table, at):
            return table[at] * 2

        @torch.compile
        def rows(table, at):
            return table[at] * 2

        @torch.compile
        def gathered(table, at):
            return table[at[None]][0] + table.index_select(0, at)[0]

        def main():
            for number in range(3):
                row(torch.ones(10, 4), torch.tensor(2))
                rows(torch.ones(10, 4), torch.tensor([number]))
                gathered(torch.ones(10, 4), torch.tensor(number))
    """,
    "letters of which all have as many": """
        def main():
            for _ in range(3):
                step(torch.ones(len("".join(random.choice("abc") for _ in range(7)))))
    """,
    "parameters that are frozen again as they were": """
        def main():
            net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
            for _ in range(3):
                for parameter in net.parameters():
                    parameter.requires_grad = False
                for parameter in net[1].parameters():
                    parameter.requires_grad = True
                applied(torch.ones(3), net)
    """,
    "what one filter leaves of one list": """
        rows = [torch.randn(3) for _ in range(6)]
        for _ in range(3):
            step(torch.stack([row for row in rows if row.sum() > 0]))
    """,
    "another try with the same number, and a way out": """
        def main():
            for attempt in range(4):
                try:
                    scaled(torch.ones(2), 2)
                    break
                except RuntimeError:
                    print("again", attempt)
            for number in (2, 3):
                try:
                    return scaled(torch.ones(2), 2)
                except RuntimeError:
                    number = 5
                    raise
        """,
    "items of dicts that nobody looks up": """
        @torch.compile
        def total(targets, cfg):
            return sum(target["boxes"].sum() for target in targets) * cfg["model"]["scale"]

        def main():
            for number in (2, 3, 4):
                target = {"boxes": torch.ones(5, 4), "id": number, "area": torch.ones(number)}
                total([target], {"model": {"scale": 2, "name": str(number)}})
        """,
    "a hook of the compiled module itself that is taken off": """
        class Layer(nn.Module):
            def forward(self, x):
                return x * 2

        def main():
            model = Layer()
            net, x = torch.compile(model), torch.ones(2, 2)
            own = model.register_forward_hook(lambda module, args, out: out * 2)
            net(x)
            own.remove()
            net(x)
        """,
    "the same largest of lengths in a tensor": """
        def main():
            for sizes in ([3, 7, 5], [7, 2, 1], [7, 7, 7]):
                step(torch.zeros(torch.tensor(sizes).max().item()))
    """,
    "lengths that are set in place": """
        def main():
            for n in (3, 5):
                lengths = torch.tensor([n, 2])
                lengths[0] = 4
                step(torch.zeros(int(lengths.max())))
                lengths = torch.tensor([n, 2])
                lengths.clamp_(max=3).fill_(4)
                step(torch.zeros(int(lengths.max())))
    """,
    "a function that is applied to modules that it leaves as they are": """
        class Observer(nn.Module):
            def __init__(self):
                super().__init__()
                self.observes = True
                self.layer = nn.Linear(2, 2)

            def forward(self, x):
                return self.layer(x) if self.observes else x

        def freeze(module):
            if isinstance(module, nn.BatchNorm1d):
                module.observes = False

        def main():
            model = Observer()
            net = torch.compile(model)
            net(torch.ones(3, 2))
            model.apply(freeze)
            net(torch.ones(3, 2))
    """,
    "equal parts of a grid": """
        def main(height=8, width=10):
            xs, ys = torch.meshgrid(torch.arange(width), torch.arange(height), indexing="xy")
            points = torch.stack([xs, ys], -1).view(-1, 2)
            for at in range(0, points.shape[0], 40):
                step(points[at : at + 40])
    """,
    "windows of one length": """
        def main():
            data = torch.arange(400)
            for _ in range(3):
                starts = torch.randint(0, 390, (8,))
                step(torch.stack([data[i : i + 8] for i in starts]))
                step(torch.stack([data[i : i + 8] for i in starts.tolist()]))
    """,
    "a stream without end, and one of whole batches": """
        class Stream(torch.utils.data.IterableDataset):
            def __init__(self, count):
                self.count = count

            def __iter__(self):
                while self.count is None:
                    yield torch.ones(3)
                for number in range(self.count):
                    yield torch.ones(3)

        def main():
            for x in DataLoader(Stream(8), batch_size=4):
                step(x)
            for turn, x in enumerate(DataLoader(Stream(None), batch_size=4)):
                step(x)
                if turn == 2:
                    break
    """,
    "texts of one length": """
        def main():
            for text in ("hello", "bye"):
                step(torch.tensor(list(text.encode().ljust(8, b" "))))
    """,
    "layers that keep the sizes, and those that pool them": """
        def main():
            conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
            pool = nn.AdaptiveAvgPool2d((2, 2))
            for size in (8, 12):
                x = pool(conv(torch.ones(1, 3, size, size)).detach())
                step(nn.Flatten()(x))
                step(nn.functional.max_pool2d(torch.ones(1, 2, 8, 2), (2, 1)).view(1, 16))
    """,
    "a number of numpy's, which is an array to Dynamo": """
        def main():
            for rate in np.linspace(0.1, 1.0, 3):
                scaled(torch.ones(3), rate * 2)
    """,
    "a dict that has the key": """
        FOUND = {"last": None}

        @torch.compile
        def kept(x):
            FOUND["last"] = x + 1
            return x * 2

        def main():
            for _ in range(2):
                kept(torch.ones(3))
    """,
    "pieces along another dimension": """
        def main():
            for x in torch.ones(4, 6).split(2, dim=1):
                step(x)
            for x in torch.chunk(torch.ones(4, 6), chunks=3, dim=-1):
                step(x)
    """,
    "the same without gradients, written twice": """
        @torch.no_grad()
        def evaluated(x):
            return step(x)

        def main():
            x = torch.ones(3)
            evaluated(x)
            with torch.no_grad():
                step(x)
            with torch.set_grad_enabled(False):
                step(x)
    """,
    "views under inference mode": """
        def main():
            x = torch.ones(4, 3)
            with torch.inference_mode():
                for row in x:
                    step(row)
                    step(x[0].view(3))
    """,
    "columns of one tensor": """
        def main():
            x = torch.ones(4, 6, 8)
            for at in range(3):
                step(x[:, at : at + 1])
    """,
    "rows of one tensor": """
        def main():
            x = torch.ones(4, 6)
            step(x[:2])
            step(torch.ones(2, 6))
    """,
    "a random part of one length": """
        def main():
            for _ in range(4):
                start = random.randint(0, 20)
                step(torch.ones(100)[start : start + 16].clone())
    """,
    "one function for all calls": """
        def main():
            double = lambda x: x * 2
            for _ in range(3):
                applied(torch.ones(2), double)
    """,
    "a helper that pads": """
        def padded(n, most=32):
            size = n
            while size < most:
                size += 1
            return torch.ones(size)

        def main():
            for n in (5, 7, 30):
                step(padded(n))
    """,
    "one mask for all calls": """
        def main():
            x = torch.arange(12.0)
            kept = x < 5
            for _ in range(3):
                step(x[kept].clone())
    """,
    "positions of a shuffle": """
        def main():
            x = torch.ones(12, 2)
            order = torch.randperm(12)
            for i in range(0, 12, 4):
                step(x[order[i : i + 4]])
    """,
    "a rate that is not handed over": """
        def main():
            net = torch.compile(nn.Linear(2, 1))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(3):
                net(torch.ones(3, 2)).sum().backward()
                optimizer.step()
                for group in optimizer.param_groups:
                    group["lr"] *= 0.5
    """,
}


def lines_of(folder, program):
    source = HEAD + textwrap.dedent(program).lstrip("\n")
    lines = source.splitlines()
    return [(code, lines[line - 1]) for code, line in found(analysed(folder, {"run.py": source}))]


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_is_found(what, tmp_path):
    expected, program = PROGRAMS[what]
    place, _, code = expected.rpartition(" ")
    seen = lines_of(tmp_path, program)
    assert seen and all(c == code and place.strip() in line for c, line in seen)


@pytest.mark.parametrize("what", QUIET)
def test_what_does_not_differ_is_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []


SEVERAL = """
batches = [torch.ones(2, 3), torch.ones(8, 3), torch.ones(8, 3).double()]
for batch in batches:
    scaled(batch, 2.0)
with torch.no_grad():
    scaled(batches[-1], 3.0)
"""


def test_one_name_differs_in_several_ways(tmp_path):
    assert sorted(lines_of(tmp_path, SEVERAL)) == [
        (code, "    return x * number  # NUMBER")
        for code in ("BRK709", "BRK712", "BRK717", "BRK718")
    ]


BEHIND_A_BREAK = """
@torch.compile
def chosen(table, least):
    kept = torch.nonzero(table > least).squeeze(1)
    return table[kept] * 2


table = torch.arange(20.0)
for number in range(4):
    chosen(table, torch.tensor({number}))
"""


@pytest.mark.parametrize(("number", "codes"), [("number", ["BRK301", "BRK731"]), ("3", ["BRK301"])])
def test_a_tensor_of_a_number_that_a_loop_counts_is_another_one(number, codes, tmp_path):
    program = BEHIND_A_BREAK.format(number=number)
    assert sorted(code for code, _ in lines_of(tmp_path, program)) == codes
