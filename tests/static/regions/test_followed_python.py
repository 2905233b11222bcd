"""Python around a region is followed as it runs: what it draws at random, lists, sorts and counts. Each program was
measured under torch 2.13: it compiles again for what is marked, and for nothing else."""

import pytest
from test_followed_programs import lines_of

PROGRAMS = {
    "lists of drawn lengths": (
        "SIZE BRK712",
        """
        def padded(rows):
            longest = max(len(r) for r in rows)
            return torch.tensor([r + [0] * (longest - len(r)) for r in rows])

        def main():
            random.seed(1)
            rows = [[random.randint(1, 9) for _ in range(random.randint(3, 12))] for _ in range(12)]
            order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
            for start in range(0, 12, 4):
                step(padded([rows[i] for i in order[start : start + 4]]))
        """,
    ),
    "items that are chosen": (
        "SIZE BRK712",
        """
        def main():
            random.seed(0)
            pool = [torch.ones(n) for n in (3, 5, 7)]
            for _ in range(4):
                step(random.choice(pool))
        """,
    ),
    "a branch that a drawn number decides": (
        "NUMBER BRK708",
        """
        def main():
            for depth in (1, 2, 3):
                if random.randint(1, 3) > 0:
                    scaled(torch.ones(3), depth)
        """,
    ),
    "named tuples turned into columns": (
        "SIZE BRK712",
        """
        Row = collections.namedtuple("Row", ["state", "reward"])

        def main():
            rows = []
            for t in range(3):
                state = torch.ones(4)
                step(state)
                rows.append(Row(state, float(t)))
            batch = Row(*zip(*rows))
            step(torch.stack(batch.state))
        """,
    ),
    "a comprehension in another": (
        "SIZE BRK712",
        """
        def main():
            for sizes in ([(1, 2), (3,)], [(4, 5, 6)], [(7,), (8,)]):
                step(torch.tensor([n for row in sizes for n in row if n > 1]))
        """,
    ),
    "a mask that the class has not yet": (
        "FLOW BRK702",
        """
        class Masked(nn.Module):
            mask = None

            def forward(self, x):
                return x if self.mask is None else x * self.mask  # FLOW

        def main():
            net = nn.Sequential(Masked(), nn.ReLU())
            run = torch.compile(net)
            for _ in range(3):
                run(torch.ones(3))
                for layer in net:
                    if isinstance(layer, Masked):
                        layer.mask = torch.ones(3)
        """,
    ),
    "two loaders side by side": (
        "SIZE BRK712",
        """
        def main():
            first, second = torch.ones(12, 2), torch.ones(10, 3)
            for _, x in zip(DataLoader(first, batch_size=4), DataLoader(second, batch_size=4)):
                step(x)
        """,
    ),
    "a batch sampler of torch's": (
        "SIZE BRK712",
        """
        def main():
            data = torch.ones(10, 3)
            sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 4, drop_last=False)
            for x in DataLoader(data, batch_sampler=sampler):
                step(x)
        """,
    ),
    "a sampler that takes some": (
        "SIZE BRK712",
        """
        def main():
            data = torch.ones(12, 3)
            sampler = torch.utils.data.SubsetRandomSampler(range(10))
            for x in DataLoader(data, batch_size=4, sampler=sampler):
                step(x)
        """,
    ),
    "an iterable of the program's own that `enumerate` goes over": (
        "SIZE BRK712",
        """
        class Sizes:
            def __init__(self, last):
                self.sizes = range(8, last, 8)

            def __iter__(self):
                for size in self.sizes:
                    yield size

        def main():
            for epoch, size in enumerate(Sizes(25)):
                step(torch.ones(2, size))
        """,
    ),
    "tensors without gradients that are joined, beside a result with one": (
        "SIZE BRK718",
        """
        def main():
            step(torch.cat([torch.ones(2, 4), torch.ones(2, 4)]))
            step(nn.Linear(4, 4)(torch.ones(4, 4)))
        """,
    ),
    "a number that `enumerate` begins with": (
        "SIZE BRK712",
        """
        def main():
            for n, rest in enumerate([1, 0, 0], start=1):
                step(torch.ones(n + rest))
        """,
    ),
    "a fraction that ends an episode": (
        "SIZE BRK712",
        """
        def episode():
            states = []
            for _ in range(6):
                states.append(torch.ones(4))
                if random.random() < 0.5:
                    break
            return torch.stack(states)

        def main():
            random.seed(1)
            for _ in range(5):
                step(episode())
        """,
    ),
    "arrays of whole and other numbers": (
        "NUMBER BRK717",
        """
        def main():
            scaled(torch.ones(4), np.random.randint(1, 9, 4))
            scaled(torch.ones(4), np.random.randn(4))
        """,
    ),
    "options of which there are several": (
        "SIZE BRK712",
        """
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--sizes", type=int, nargs="+", default=[4, 8])
            for n in parser.parse_args([]).sizes:
                step(torch.ones(n))
        """,
    ),
    "layers that are set back to training": (
        "PART BRK722",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)

            def forward(self, x):
                return self.drop(x) + 1  # PART

        def main():
            net = Net().eval()
            call = torch.compile(net)
            call(torch.ones(3))
            for part in net.modules():
                if isinstance(part, nn.Dropout):
                    part.train()
            call(torch.ones(3))
        """,
    ),
    "what the third batch changes": (
        "NUMBER BRK708",
        """
        def main():
            loader = DataLoader(torch.ones(8, 3), batch_size=2)
            for at, x in enumerate(loader):
                scaled(x, 5 if at == 2 else 1)
        """,
    ),
    "a context that sets a variable": (
        "SCALE BRK702",
        """
        FACTOR = 1.0

        @contextlib.contextmanager
        def factor(value):
            global FACTOR
            before = FACTOR
            FACTOR = value
            try:
                yield before
            finally:
                FACTOR = before

        @torch.compile
        def multiplied(x):
            return x * FACTOR  # SCALE

        def main():
            multiplied(torch.ones(3))
            with factor(0.5), contextlib.nullcontext():
                multiplied(torch.ones(3))
        """,
    ),
    "sizes that torch draws": (
        "SIZE BRK712",
        """
        def main():
            torch.manual_seed(1)
            for _ in range(4):
                rows = [torch.ones(2) for _ in range(int(torch.randint(3, 10, (1,))))]
                step(torch.stack(rows))
                if torch.rand(1) < 2 and torch.rand(1).item() < 2:
                    step(torch.stack(rows))
        """,
    ),
    "blocks that are trained one by one": (
        "PART BRK718",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

            def forward(self, x):
                for block in self.blocks:  # PART
                    x = block(x)
                return x

        def main():
            net = Net()
            call = torch.compile(net)
            for epoch in range(3):
                for at, block in enumerate(net.blocks):
                    block.requires_grad_(at >= 2 - epoch)
                call(torch.ones(2, 4))
        """,
    ),
    "a loader behind a bar that has a name": (
        "SIZE BRK712",
        """
        def main():
            bar = tqdm.tqdm(DataLoader(torch.ones(10, 3), batch_size=4), disable=True)
            for number, x in enumerate(bar):
                step(x)
                bar.set_description(str(number))
        """,
    ),
    "a list that grows under a context": (
        "SIZE BRK712",
        """
        def main():
            seen, encode = [], nn.GRU(3, 5, batch_first=True)
            with torch.no_grad():
                for _ in range(3):
                    seen.append(torch.ones(1, 3))
                    features, _ = encode(torch.stack(seen, 1))
                    step(features)
        """,
    ),
    "a variable of the file's own": (
        "COUNT BRK702",
        """
        count = 0

        @torch.compile
        def counted(x):
            return x * (count + 1)  # COUNT

        for _ in range(3):
            counted(torch.ones(3))
            count += 1
        """,
    ),
}
QUIET = {
    "lists of drawn lengths that are cut": """
        def main():
            for _ in range(3):
                row = [random.random() for _ in range(random.randint(3, 12))][:8]
                step(torch.tensor(row + [0.0] * (8 - len(row))))
    """,
    "a variable that is not read": """
        count = 0
        for _ in range(3):
            step(torch.ones(3))
            count += 1
    """,
    "a context that runs its block once": """
        @contextlib.contextmanager
        def quietly():
            with torch.no_grad():
                yield

        def main():
            for _ in range(3):
                with quietly():
                    step(torch.ones(3))
            with torch.no_grad():
                step(torch.ones(3))
    """,
    "blocks that are frozen again": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        def main():
            net = Net()
            call = torch.compile(net)
            net.requires_grad_(False)
            for at in range(3):
                net.blocks[at].requires_grad_(False)
                call(torch.ones(2, 4))
    """,
    "parts whose modes are over": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)

            def forward(self, x):
                return self.drop(x) + 1

        def main():
            net = Net()
            call = torch.compile(net)
            call(torch.ones(3))
            net.drop.eval()
            net.train()
            call(torch.ones(3))
    """,
    "numbers of numpy's that are arrays": """
        def main():
            for _ in range(3):
                scaled(torch.ones(4), np.random.randn(4))
                step(torch.ones(4), torch.from_numpy(np.random.randint(1, 9, 4)))
    """,
    "items that are alike": """
        def main():
            pool = [torch.ones(3) for _ in range(5)]
            for _ in range(4):
                step(random.choice(pool))
                step(torch.stack(random.sample(pool, 3)).sum(0))
    """,
    "a loader that ends before the last batch of the other": """
        def main():
            first, second = torch.ones(8, 2), torch.ones(10, 3)
            for _, x in zip(DataLoader(first, batch_size=4), DataLoader(second, batch_size=4)):
                step(x)
    """,
    "a batch sampler that drops the last": """
        def main():
            data = torch.ones(10, 3)
            sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(data), 4, True)
            for x in DataLoader(data, batch_sampler=sampler):
                step(x)
    """,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_is_found(what, tmp_path):
    expected, program = PROGRAMS[what]
    place, _, code = expected.rpartition(" ")
    seen = lines_of(tmp_path, program)
    assert seen and all(c == code and place.strip() in line for c, line in seen)


@pytest.mark.parametrize("what", QUIET)
def test_what_does_not_differ_is_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []
