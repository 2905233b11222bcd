"""Programs as users write them, each measured under torch 2.13: what is marked breaks or compiles again, and
nothing else does."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = """\
import torch
from torch import nn

"""
PROGRAMS = {
    "a cache whose keys are tuples": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x, past=None):
                y = self.layer(x)  # BRK712
                return y if past is None else y + past.sum()  # BRK711

        class Server:
            def __init__(self):
                self.model = torch.compile(Model())
                self.kept = {}

            def handle(self, prefix, x):
                key = tuple(prefix)
                if key not in self.kept:
                    self.kept[key] = self.model(torch.ones(2, 4))
                return self.model(x, self.kept[key])

        server = Server()
        for number in range(3):
            server.handle([1, 2, 3], torch.ones(3, 4))
    """,
    "what leaves a dict": """
        import collections

        @torch.compile
        def step(x):
            return x * 2  # BRK712

        @torch.compile
        def alike(x):
            return x * 3

        kept = collections.OrderedDict()
        for number in range(5):
            kept[number] = torch.ones(3)
            step(torch.ones(len(kept), 3))
            if len(kept) == 2:
                kept.popitem(last=False)
            alike(torch.ones(len(kept), 3))
            if number == 3:
                del kept[number]
    """,
    "lists of other lengths, and of other numbers": """
        @torch.compile
        def packed(x, lengths):
            at, parts = 0, []
            for length in lengths:  # BRK720 BRK708
                parts.append(x[at : at + length].mean(0))
                at += length
            return torch.stack(parts)

        x = torch.ones(16, 4)
        for lengths in ([8, 8], [4, 12], [4, 8, 4]):
            packed(x, lengths)
    """,
    "lists of numbers are no tensors": """
        class Packed(nn.Module):
            def forward(self, x, lengths):
                mask = torch.zeros(x.size(0), x.size(0))
                at = 0
                for length in lengths:  # BRK720
                    mask[at : at + length] = 1.0
                    at += length
                return mask @ x

        model = torch.compile(Packed())
        for lengths in ([8, 8], [4, 8, 4]):
            model(torch.ones(16, 4), lengths)
    """,
    "a threshold that is read from data each day": """
        class Detector:
            def __init__(self):
                self.threshold = None
                self.flag = torch.compile(self._flag)

            def _flag(self, x):
                return x.abs() > self.threshold  # BRK702

            def fit(self, x):
                self.threshold = x.std().item()

        detector = Detector()
        for day in range(3):
            detector.fit(torch.randn(64))
            detector.flag(torch.randn(10))
    """,
    "a threshold that is read from data once": """
        class Detector:
            def __init__(self):
                self.threshold = None
                self.flag = torch.compile(self._flag)

            def _flag(self, x):
                return x.abs() > self.threshold

            def fit(self, x):
                self.threshold = x.std().item()

        detector = Detector()
        detector.fit(torch.randn(64))
        for day in range(3):
            detector.flag(torch.randn(10))
    """,
    "random numbers of a helper decide how many rows are left": """
        class Policy(nn.Module):
            def __init__(self):
                super().__init__()
                self.start = nn.Parameter(torch.randn(32, 6))

            def forward(self):
                return torch.multinomial(self.start.softmax(-1), 1).squeeze(-1)

        policy = Policy()

        @torch.compile
        def loss():
            rows = policy()
            rows = rows[rows > 2]  # BRK302 BRK731
            return rows.float().sum()

        for step in range(4):
            loss()
    """,
    "a helper of the same numbers decides how many rows are left": """
        class Table(nn.Module):
            def __init__(self):
                super().__init__()
                self.start = nn.Parameter(torch.randn(32, 6))

            def forward(self):
                return self.start.softmax(-1).argmax(-1)

        table = Table()

        @torch.compile
        def loss():
            rows = table()
            rows = rows[rows > 2]  # BRK302
            return rows.float().sum()

        for step in range(4):
            loss()
    """,
    "an index of int32": """
        @torch.compile
        def row(table, at):
            return table[at] * 2  # BRK213

        for number in range(3):
            row(torch.ones(10, 4), torch.tensor(number, dtype=torch.int32))
    """,
    "a hook of what is not compiled": """
        class Harvest:
            def __init__(self, layer):
                self.kept = []
                layer.register_forward_hook(self.hook)

            def hook(self, module, args, out):
                self.kept.append(out.detach())

        host = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        harvest = Harvest(host[0])

        @torch.compile
        def loss(x):
            return x.pow(2).mean()

        for epoch in range(2):
            host(torch.ones(16, 6))
            loss(torch.cat(harvest.kept))
            harvest.kept.clear()
    """,
    "slots of a list that are None in the first call": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x, past):
                y = self.layer(x)
                return y if past is None else y + past

        class Decoder(nn.Module):
            def __init__(self, depth=2):
                super().__init__()
                self.blocks = nn.ModuleList(Block() for _ in range(depth))

            def forward(self, x, cache):
                kept = []
                for block, past in zip(self.blocks, cache):  # BRK711
                    x = block(x, past)
                    kept.append(x)
                return x, kept

        net = torch.compile(Decoder())
        cache = [None] * 2
        with torch.no_grad():
            x = torch.ones(2, 3, 4)
            for _ in range(4):
                x, cache = net(x, cache)
    """,
    "lists that are kept at a length": """
        from collections import deque

        class Window(nn.Module):
            def __init__(self):
                super().__init__()
                self.last = []
                self.newest = []
                self.full = deque([torch.zeros(4), torch.ones(4)], maxlen=2)

            def forward(self, x):
                self.last.append(x * 2)  # BRK703
                self.last = self.last[-2:]
                self.newest.insert(0, x)  # BRK703
                del self.newest[3:]
                self.full.append(x)
                return torch.stack([*self.last, *self.newest, *self.full]).mean(0)

        window = torch.compile(Window())
        for _ in range(6):
            window(torch.randn(4))
    """,
    "what is not read of what is given": """
        @torch.compile
        def scaled(x, options, names):
            y = x * options["scale"]
            if options.get("bias") is not None and "shift" not in options:
                y = y + options["bias"]
            return y * len(names)

        for step in range(4):
            scaled(torch.ones(3), {"scale": 2.0, "step": step}, [f"step {step}", "last"])
    """,
    "what is set before the first call": """
        class Cell(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.GRUCell(4, 4)
                self.state = None
                self.slots = {"fast": torch.zeros(2, 4)}

            def reset(self, n):
                self.state = torch.zeros(n, 4)

            def forward(self, x, name):
                self.state = self.cell(x, self.state)
                self.slots[name] = self.slots[name] * 0.9 + self.state
                return self.slots[name]

        cell = Cell()
        run = torch.compile(cell)
        with torch.no_grad():
            for _ in range(2):
                cell.reset(2)
                for _ in range(3):
                    run(torch.randn(2, 4), "fast")
    """,
    "a dimension that was marked as dynamic, and another": """
        @torch.compile
        def mean(x):
            return x.mean(0)

        @torch.compile
        def total(x):
            return x.sum(0)  # BRK712

        batch = torch.randn(3, 4)
        torch._dynamo.mark_dynamic(batch, 0)
        mean(batch)
        mean(torch.randn(5, 4))
        mean(torch.randn(9, 4))
        total(batch)
        total(torch.randn(5, 6))
    """,
    "both sides of a branch on a dynamic size": """
        def halves(x):
            if x.shape[0] % 2 == 0:  # BRK713
                return x.view(2, -1)
            return x[:-1].view(2, -1)

        fold = torch.compile(halves, dynamic=True)
        for n in (4, 5, 8):
            fold(torch.randn(n))
    """,
    "one side of a branch on a dynamic size": """
        def halves(x):
            if x.shape[0] % 2 == 0:
                return x.view(2, -1)
            return x[:-1].view(2, -1)

        fold = torch.compile(halves, dynamic=True)
        for n in (4, 6, 8):
            fold(torch.randn(n))
    """,
    "compiled by other names": """
        def scaled(x, n):
            return x * n  # BRK708

        def shifted(x, n):
            return x + n  # BRK708

        older = torch._dynamo.optimize("eager")(scaled)
        looked_up = getattr(torch, "compile", None)
        newer = shifted if looked_up is None else looked_up(shifted)
        for n in (1, 2, 3):
            older(torch.randn(4), n)
            newer(torch.randn(4), n)
    """,
    "a run for which nobody sets variables of the environment": """
        import os

        @torch.compile
        def double(x):
            return x * 2  # BRK718

        distributed = int(os.environ.get("RANK", -1)) != -1
        if distributed:
            is_first = int(os.environ["RANK"]) == 0
        else:
            is_first = True
        for step in range(3):
            if is_first and os.getenv("EVALUATE", "1") == "1":
                with torch.no_grad():
                    double(torch.randn(4))
            double(torch.randn(4))
    """,
    "options of a command line, as they are by default": """
        import argparse

        class Plain(nn.Module):
            def forward(self, x):
                return x * 2  # BRK718

        class Deep(nn.Module):
            def forward(self, x):
                return x.sin()

        MODELS = {"plain": Plain, "deep": Deep}
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", default="plain", choices=["plain", "deep"])
        parser.add_argument("--resume", default=None)
        parser.add_argument("--amp", action="store_true")
        parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
        args = parser.parse_args([])
        model = MODELS[args.model]()
        if args.resume is not None:
            model = torch.load(args.resume)
        if args.compile:
            model = torch.compile(model)
        for x in torch.randn(3, 4):
            with torch.autocast("cpu", enabled=args.amp):
                model(x)
            with torch.no_grad():
                model(x)
    """,
    "functions of torch's own, in C": """
        from torch._C._functorch import get_unwrapped, is_batchedtensor

        @torch.compile
        def kept(x):
            y = x * 2
            if is_batchedtensor(y):
                return y
            return get_unwrapped(y)  # BRK599

        kept(torch.ones(3))
    """,
    "operators with and without a fake implementation": """
        @torch.library.custom_op("written::doubled", mutates_args=())
        def doubled(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @torch.library.custom_op("written::halved", mutates_args=())
        def halved(x: torch.Tensor) -> torch.Tensor:
            return x / 2

        @halved.register_fake
        def of_halved(x):
            return torch.empty_like(x)

        @torch.library.custom_op("written::scaled", mutates_args=("x",))
        def scaled(x: torch.Tensor) -> None:
            x.mul_(2)

        @torch.compile
        def step(x):
            y = halved(x)
            scaled(y)
            return doubled(y)  # BRK621

        step(torch.ones(3))
    """,
    "a list of other objects between calls": """
        class Scale:
            def __init__(self, by):
                self.by = by
                self.tag = str(by)

            def __call__(self, w):
                return w * self.by

        class Layer(nn.Linear):
            def __init__(self):
                super().__init__(2, 2)
                self.patches = []
                self.seen = []

            def forward(self, x):
                w = self.weight
                for patch in self.patches:  # BRK702
                    w = patch(w)
                return x @ w + len(self.seen)

        layer = Layer()
        compiled = torch.compile(layer)
        for by in (1.0, 2.0, 3.0):
            layer.patches = [Scale(by)]
            compiled(torch.ones(1, 2))
    """,
    "an object in a dict, and a partial, between calls": """
        from functools import partial

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.processors = {}
                self.act = torch.relu

            def forward(self, x):
                return self.act(self.processors["a"](x))  # BRK702 BRK702

        class Processor:
            def __init__(self, name):
                self.name = name

            def __call__(self, x):
                return x * len(self.name)

        attention = Attention()
        compiled = torch.compile(attention)
        for name in ("a", "bb", "ccc"):
            attention.processors["a"] = Processor(name)
            attention.act = partial(torch.clamp, max=len(name))
            compiled(torch.ones(2))
    """,
    "modules that are changed between calls": """
        import torch.nn.utils.prune as prune

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(2, 2)
                self.others = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
                self.last = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))

            def forward(self, x):
                x = self.first(x)  # BRK702
                for layer in self.others:  # BRK702
                    x = layer(x)
                return self.last(x)

        net = Net()
        compiled = torch.compile(net)
        compiled(torch.ones(1, 2))
        prune.l1_unstructured(net.first, "weight", 0.5)
        compiled(torch.ones(1, 2))
        net.others[1] = nn.Linear(2, 2, bias=False)
        compiled(torch.ones(1, 2))
    """,
    "an item of what is compiled, and an attribute of a function": """
        row = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        compiled = torch.compile(row)
        compiled(torch.ones(1, 2))
        row[1] = nn.Sigmoid()
        compiled(torch.ones(1, 2))  # BRK702

        def act(x):
            return x * act.scale  # BRK702

        @torch.compile
        def step(x):
            return act(x)

        for scale in (1.0, 2.0, 3.0):
            act.scale = scale
            step(torch.ones(2))
    """,
    "schedulers that change the momentum, and one that does not": """
        weight = nn.Parameter(torch.ones(2))
        weight.grad = torch.ones(2)
        adam = torch.optim.AdamW([weight], lr=torch.tensor(0.001))
        cycle = torch.optim.lr_scheduler.OneCycleLR(adam, max_lr=0.01, total_steps=100)
        sgd = torch.optim.SGD([weight], lr=torch.tensor(0.001), momentum=0.9)
        rates = torch.optim.lr_scheduler.OneCycleLR(
            sgd, max_lr=0.01, total_steps=100, cycle_momentum=False
        )

        @torch.compile
        def update():
            adam.step()  # BRK603 BRK702

        for _ in range(4):
            update()
            cycle.step()
    """,
    "a deque that is not full at first": """
        from collections import deque

        window = deque(maxlen=3)
        full = deque([torch.zeros(()), torch.ones(())], maxlen=2)

        @torch.compile
        def step(x):
            y = x * 2
            window.append(y.mean())  # BRK703
            return y

        @torch.compile
        def other(x):
            full.append(x.mean())
            return x * 2

        for number in range(6):
            step(torch.ones(2) * number)
            other(torch.ones(2) * number)
    """,
    "what does nothing in its first call is not compiled": """
        def grown(x):
            if x.sum() > 0:  # BRK101
                x = x * 2
            return x

        class Tracker(nn.Module):
            def __init__(self):
                super().__init__()
                self.count = 0
                self.before = None

            def forward(self, x):
                self.count += 1
                if self.before is None:
                    self.before = x
                    return x  # BRK828
                changed = grown(x - self.before)
                if changed.sum() > 1:
                    changed = changed / self.count
                self.before = x
                return changed

        tracker = torch.compile(Tracker())
        for number in range(5):
            tracker(torch.ones(2) * number)
    """,
    "made under inference mode, and of other sizes": """
        @torch.compile
        def step(x):
            return x * 2  # BRK718 BRK712

        with torch.inference_mode():
            x = torch.ones(2, 3)
        step(torch.ones(3, 3))
        step(x)
    """,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_is_marked_is_found_and_nothing_else(what, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[what]).lstrip("\n")
    assert set(found(analysed(tmp_path, {"run.py": source}))) == marked(source)
