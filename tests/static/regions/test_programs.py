"""What differs between the calls that a file's own code makes of what it compiles."""

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.rate = 1.0

    def forward(self, x, residual=True):
        y = self.linear(x) * self.rate
        return x + y if residual else y


def step(x, number):
    return x * number


"""
FLOW = "        y = self.linear(x) * self.rate"
RESULT = "        return x + y if residual else y"
NUMBER = "    return x * number"
PROGRAMS = {
    "a number of a loop": (
        "def main():\n    run = torch.compile(step)\n    for n in range(4):\n        run(torch.ones(2), n)\n",
        ("BRK708", NUMBER),
    ),
    "a number of a loop of unknown length": (
        "def main(count):\n    run = torch.compile(step)\n    for n in range(count):\n        run(torch.ones(2), n)\n",
        ("BRK708", NUMBER),
    ),
    "a rate that shrinks while a test is open": (
        "def main(x):\n    run, rate = torch.compile(step), 1.0\n    while x.sum() > 0:\n"
        "        x, rate = run(x, rate), rate * 0.5\n",
        ("BRK709", NUMBER),
    ),
    "at the top of the file": (
        "run = torch.compile(step)\nfor n in (2.0, 3.0):\n    run(torch.ones(2), n)\n",
        ("BRK709", NUMBER),
    ),
    "through a helper": (
        "def helper(run, n):\n    return run(torch.ones(n), 2)\n\n\n"
        "def main():\n    run = torch.compile(step)\n    for n in (3, 4):\n        helper(run, n)\n",
        ("BRK712", NUMBER),
    ),
    "training and evaluation": (
        "def main():\n    net = torch.compile(Net())\n    x = torch.ones(2, 4)\n    net(x)\n"
        "    with torch.no_grad():\n        net(x)\n",
        ("BRK718", FLOW),
    ),
    "an attribute between calls": (
        "def main():\n    net = Net()\n    run = torch.compile(net)\n    for n in (1, 2, 3):\n"
        "        run(torch.ones(2, 4))\n        net.rate = 1.0 / n\n",
        ("BRK702", FLOW),
    ),
    "a flag": (
        "def main():\n    run = torch.compile(Net(), dynamic=True)\n    for n in (2, 3):\n"
        "        run(torch.ones(n, 4), residual=n == 2)\n",
        ("BRK710", RESULT),
    ),
}


def lines_of(folder, source):
    lines = (HEAD + source).splitlines()
    return [
        (code, lines[line - 1]) for code, line in found(analysed(folder, {"run.py": HEAD + source}))
    ]


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_differs_is_found(what, tmp_path):
    source, expected = PROGRAMS[what]
    assert lines_of(tmp_path, source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        # before the first call, and behind the last one
        "def main():\n    net = Net()\n    run = torch.compile(net)\n    net.rate = 2.0\n"
        "    run(torch.ones(2, 4))\n    run(torch.ones(2, 4))\n    net.rate = 3.0\n",
        # the function that was not compiled
        "def main():\n    run = torch.compile(step)\n    run(torch.ones(2), 2)\n    run(torch.ones(2), 2)\n"
        "    step(torch.ones(3), 5)\n",
        # only one of the calls happens
        "def main(many):\n    run = torch.compile(step)\n    if many:\n        run(torch.ones(9), 2)\n"
        "    else:\n        run(torch.ones(2), 3)\n",
        # sizes that are dynamic from the start
        "def main():\n    net = torch.compile(Net(), dynamic=True)\n    for n in (2, 3, 4):\n"
        "        net(torch.ones(n, 4))\n",
        "def main():\n    net = torch.compile(Net())\n    for n in (2, 3, 4):\n        x = torch.ones(n, 4)\n"
        "        torch._dynamo.mark_dynamic(x, 0)\n        net(x)\n",
        # what nobody knows
        "def main(loader, scale):\n    run = torch.compile(step)\n    for x in loader:\n"
        "        run(x, 2)\n        run(run(x, 2), 2)\n        run(x.to('cpu'), 2)\n",
        # another model
        "def main():\n    net, other = torch.compile(Net()), nn.Dropout()\n    net(torch.ones(2, 4))\n"
        "    other.eval()\n    net(torch.ones(2, 4))\n",
    ],
)
def test_what_does_not_differ_is_no_hazard(source, tmp_path):
    assert lines_of(tmp_path, source) == []
