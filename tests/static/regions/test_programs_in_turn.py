"""Small programs whose calls leave something behind, or are given another thing each time: what is marked is found,
and nothing else."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = "import itertools\nimport torch\nfrom torch import nn\n\n"

NET = "\ndef make():\n    return Net(), (torch.ones(2, 3),), {}\n"
PROGRAMS = {
    "a dict that all calls are given counts": """
        def step(x, state):
            state["n"] += 1  # BRK708
            return x / state["n"]

        def make():
            return step, (torch.ones(3), {"n": 0}), {}

        def calls():
            state = {"n": 0}
            return [(torch.ones(3), state) for _ in range(3)]
    """,
    "it gains a key": """
        def step(x, state):
            m = state.get("m")  # BRK720
            m = x if m is None else 0.9 * m + 0.1 * x
            state["m"] = m
            return x - m

        def make():
            return step, (torch.ones(3), {}), {}

        def calls():
            state = {}
            return [(torch.ones(3), state) for _ in range(3)]
    """,
    "it holds another tensor of the same size": """
        def step(x, state):
            state["m"] = 0.9 * state["m"] + 0.1 * x
            return x - state["m"]

        def make():
            return step, (torch.ones(3), {"m": torch.zeros(3)}), {}

        def calls():
            state = {"m": torch.zeros(3)}
            return [(torch.ones(3), state) for _ in range(3)]
    """,
    "a list that all calls are given grows": """
        def step(x, history):
            history.append(x.mean())  # BRK720
            return x - history[0]

        def make():
            return step, (torch.ones(3), []), {}

        def calls():
            history = []
            return [(torch.ones(3), history) for _ in range(3)]
    """,
    "sets of the same length": """
        def step(x, names):
            return x * ("a" in names)  # BRK720

        def make():
            return step, (torch.ones(3), {"a"}), {}

        def calls():
            return [(torch.ones(3), names) for names in ({"a", "b"}, {"a", "c"})]
    """,
    "the same sets": """
        def step(x, names):
            return x * ("a" in names)

        def make():
            return step, (torch.ones(3), {"a"}), {}

        def calls():
            return [(torch.ones(3), names) for names in ({"a", "b"}, {"b", "a"})]
    """,
    "a kept count": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = itertools.count(1)

            def forward(self, x):
                return x * next(self.steps)  # BRK703
    """,
    "an iterator over a range in a closure": """
        def closed():
            steps = iter(range(9))

            def step(x):
                return x * next(steps)  # BRK703

            return step

        def make():
            return closed(), (torch.ones(3),), {}
    """,
    "an iterator over a list in a closure": """
        def closed():
            steps = iter([1, 2, 3, 4])

            def step(x):
                return x * next(steps)  # BRK579

            return step

        def make():
            return closed(), (torch.ones(3),), {}
    """,
    "an iterator that is made in the region": """
        class Net(nn.Module):
            def forward(self, x):
                steps = itertools.count(1)
                return x * next(steps) * next(steps)
    """,
    "a tuple with the same numbers": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.place = (0, 1)

            def forward(self, x):
                y = x * self.place[1]
                self.place = (0, 1)
                return y
    """,
    "what the handler of a KeyError keeps": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.masks = {}

            def mask(self, n):
                try:
                    return self.masks[n]
                except KeyError:
                    self.masks[n] = torch.ones(n, n).tril()  # BRK704
                    return self.masks[n]

            def forward(self, x):
                return self.mask(x.shape[0]) @ x
    """,
    "what hasattr does not find": """
        class Net(nn.Module):
            def forward(self, x):
                if not hasattr(self, "grid"):
                    self.grid = torch.zeros(2, 3)  # BRK707
                return self.grid + x
    """,
    "a slot of a list that is None at first": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.slots = [None, None]

            def forward(self, x):
                before = self.slots[0]  # BRK711
                self.slots[0] = x.detach()
                return x if before is None else x - before
    """,
    "a slot of a list that is set before it is read": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.slots = [None, None]

            def forward(self, x):
                self.slots[0] = x.detach()
                return x - self.slots[0]
    """,
    "a slot that gets another tensor of the same size": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.slots = [torch.zeros(2, 3), None]

            def forward(self, x):
                before = self.slots[0]
                self.slots[0] = x.detach()
                return x - before
    """,
    "a counter in a dict in a dict": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stats = {"train": {"n": 0}}

            def forward(self, x):
                self.stats["train"]["n"] += 1  # BRK701
                return x * 2
    """,
    "a counter that `update` sets": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stats = {"n": 0}

            def forward(self, x):
                self.stats.update(n=self.stats["n"] + 1)  # BRK708
                return x * 2
    """,
    "a list that each call empties and fills": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = []

            def forward(self, x):
                self.parts.clear()  # BRK703
                self.parts.append(x)
                return self.parts[0] * 2
    """,
    "a part of an object that another takes the place of": """
        class State:
            def __init__(self, last=None):
                self.last = last

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.state = State()

            def forward(self, x):
                y = x if self.state.last is None else x + self.state.last  # BRK711
                self.state = State(x.detach())
                return y
    """,
    "a depth that is counted up and down": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.depth = 0

            def inner(self, x):
                self.depth += 1
                try:
                    return x * self.depth
                finally:
                    self.depth -= 1

            def forward(self, x):
                return self.inner(x) + self.inner(x)
    """,
    "a number that is put back": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = 1

            def forward(self, x):
                before = self.scale
                self.scale = 5
                y = x * self.scale
                self.scale = before
                return y
    """,
    "a depth that is counted down once too few": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.depth = 0

            def forward(self, x):
                for _ in range(2):
                    self.depth += 1  # BRK701
                    x = x * self.depth
                self.depth -= 1  # BRK701
                return x
    """,
    "a buffer that takes the precision of the input": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(3))

            def forward(self, x):
                self.mean = self.mean.to(x.dtype)  # BRK717
                return x + self.mean

        def make():
            return Net(), (torch.ones(2, 3).double(),), {}
    """,
    "a named tuple that is made by a call": """
        from typing import NamedTuple

        State = NamedTuple("State", [("x", torch.Tensor), ("t", int)])

        def step(state):
            return state.x * state.t  # BRK708

        def make():
            return step, (State(torch.ones(3), 0),), {}

        def calls():
            return [(State(torch.ones(3), t),) for t in range(3)]
    """,
    "a function that takes the place of another": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = torch.relu

            def forward(self, x):
                y = self.act(x)
                self.act = torch.tanh  # BRK706
                return y
    """,
    "what another method may have set": """
        class Net(nn.Module):
            def prepare(self):
                self.grid = torch.zeros(2, 3)

            def forward(self, x):
                if not hasattr(self, "grid"):
                    self.grid = torch.zeros(2, 3)
                return self.grid + x
    """,
    "what __init__ has set": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.grid = torch.zeros(2, 3)

            def forward(self, x):
                if not hasattr(self, "grid"):
                    self.grid = torch.zeros(2, 3)
                return self.grid + x
    """,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_is_marked_is_found_and_nothing_else(what, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[what]).lstrip("\n")
    source += "" if "def make" in source else NET
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert set(found(result)) == marked(source)
