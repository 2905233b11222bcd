"""Methods `step` of classes that are no modules: which of them are regions, and of what object."""

import pytest

from breakscope.static import analyze

SCHEDULER = """\
import torch


class Scheduler:
    def __init__(self, steps: int = 1000):
        self.alphas = torch.linspace(0.9, 0.1, steps).cumprod(0)
        self.timesteps = torch.arange(steps)
        self.count = None
        self.index = None

    def set_timesteps(self, count: int):
        self.count = count
        self.timesteps = torch.linspace(999, 0, count).long()

    def find(self, timestep):
        return (self.timesteps == timestep).nonzero()[0].item()

    def step(self, output: torch.Tensor, timestep: int, sample: torch.Tensor):
        if self.count is None:
            raise ValueError("call set_timesteps first")
        if self.index is None:
            self.index = self.find(timestep)
        alpha = self.alphas[self.timesteps[self.index]]
        if alpha > 0.5:
            sample = sample / alpha
        return sample - output
"""
OTHERS = {
    "a step of training, whose loss goes back elsewhere": """\
class Learner:
    def step(self, x: torch.Tensor, y: torch.Tensor):
        self.optimizer.zero_grad()
        loss = self.finish((self.model(x) - y).square().mean())
        return loss.item()
""",
    "an environment takes one tensor": """\
class Game:
    def step(self, action: torch.Tensor):
        return 1.0 if action.sum() > 0 else 0.0
""",
    "an optimizer takes a closure": """\
class Slow(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad.norm() > 1:
                    p.grad.zero_()
""",
    "nothing says that they are tensors": """\
class Solver:
    def step(self, x, dt, scale: float):
        return x if dt.sum() > 0 else x * scale
""",
    "arrays of NumPy's": """\
import numpy as np


class Judge:
    def step(self, x: np.ndarray, y: np.ndarray, seen: list):
        return np.where(x == y)[0]
""",
    "another name": """\
class Plot:
    def draw(self, x: torch.Tensor, y: torch.Tensor):
        return x if y.sum() > 0 else y
""",
    "a base that is stepped by its subclasses": """\
class Base:
    def step(self, x: torch.Tensor, y: torch.Tensor):
        raise NotImplementedError
""",
}


def places(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text(source)
    return [(f.code, f.line) for f in analyze([str(path)]).findings if f.kind == "break"]


def test_a_step_is_seen_of_an_object_that_is_prepared(tmp_path):
    assert {line for _, line in places(tmp_path, SCHEDULER)} == {
        number
        for number, line in enumerate(SCHEDULER.splitlines(), 1)
        if ".item()" in line or "alphas[" in line or "if alpha > 0.5" in line
    }


def test_what_dynamo_does_with_it(tmp_path):
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    names = {}
    exec(compile(SCHEDULER, str(tmp_path / "program.py"), "exec"), names)
    scheduler = names["Scheduler"]()
    scheduler.set_timesteps(10)
    torch._dynamo.reset()
    counters.clear()
    step = torch.compile(scheduler.step, backend="eager")
    step(torch.ones(2), scheduler.timesteps[9], torch.ones(2))
    assert sum(counters["graph_break"].values()) >= 3
    torch._dynamo.reset()


@pytest.mark.parametrize("name", OTHERS)
def test_other_steps_are_no_regions(tmp_path, name):
    assert places(tmp_path, "import torch\n\n\n" + OTHERS[name]) == []


REQUIRED = """\
from abc import ABC, abstractmethod

import torch


class Learner(torch.nn.Module, ABC):
    @abstractmethod
    def step(self, x: torch.Tensor, training: bool): ...


class Maml(Learner):
    def step(self, x: torch.Tensor, training: bool):
        {first}
        return x.sum().item()
"""


@pytest.mark.parametrize(
    ("first", "is_region"),
    [("x = x + 1", True), ("self.optimizer.zero_grad()", False), ("x.sum().backward()", False)],
)
def test_a_step_of_training_that_a_parent_leaves_abstract(tmp_path, first, is_region):
    found = places(tmp_path, REQUIRED.format(first=first))
    assert found == ([("BRK201", 14)] if is_region else [])
