"""What a file imports and compiles is a region of that file. Dynamo of torch 2.13 breaks at each `print`."""

import pytest
from programs import TORCH, analysed, found, write

from breakscope.static import StaticOptions, analyze

PARTS = """\
import torch
from torch import nn


def step(x):
    print(x)
    return x


class Agent:
    def __init__(self):
        self.layer = nn.Linear(3, 3)

    def act(self, x):
        x = self.layer(x)
        print(x)
        return x


class Loss:
    def __call__(self, x):
        print(x)
        return x.sum()


class Net(nn.Module):
    def forward(self, x):
        print(x)
        return x
"""
LINES = {"step": 6, "act": 16, "loss": 22, "net": 28}
COMPILED = {
    "a function": ("from parts import step\nrun = torch.compile(step)", "step"),
    "a function of a module": (
        "import parts\ndef main():\n    return torch.compile(parts.step, dynamic=True)",
        "step",
    ),
    "a part of one": (
        "import functools, parts\nrun = torch.compile(functools.partial(parts.step))",
        "step",
    ),
    "a method": (
        "from parts import Agent\nagent = Agent()\nagent.act = torch.compile(agent.act)",
        "act",
    ),
    "an object that is called": (
        "from parts import Loss\nloss = torch.compile(Loss())",
        "loss",
    ),
    "a module": ("from parts import Net\nnet = torch.compile(Net())", "net"),
    "a module that is compiled in place": (
        "from parts import Net\nnet = Net()\nnet.compile()",
        "net",
    ),
}


def of_one(folder, run):
    """The findings of a check of `run.py` alone, in it and in what it imports."""
    write(folder, {"run.py": f"import torch\n{run}\n", "parts.py": PARTS})
    return found(analyze([str(folder / "run.py")], StaticOptions(torch=TORCH)))


@pytest.mark.parametrize("what", COMPILED)
def test_what_a_file_compiles_of_another(what, tmp_path):
    run, name = COMPILED[what]
    assert of_one(tmp_path, run) == [("BRK401", LINES[name])]


def test_what_it_only_imports_is_no_region(tmp_path):
    run = "from parts import Agent, Loss, Net, step\nstep(torch.ones(3))\nNet()(torch.ones(3))\n"
    assert of_one(tmp_path, run) == []


def test_an_object_of_the_same_file_that_is_called(tmp_path):
    source = PARTS.replace("class Net", "loss = torch.compile(Loss())\n\n\nclass Net")
    assert ("BRK401", LINES["loss"]) in found(analysed(tmp_path, {"run.py": source}))
    assert ("BRK401", LINES["loss"]) not in found(analysed(tmp_path, {"run.py": PARTS}))
