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
    "a number of the command line and a counter": (
        "import argparse\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--rate', type=float, default=0.5)\n    parser.add_argument('--total')\n"
        "    args = parser.parse_args()\n    run = torch.compile(step)\n    for n in range(4):\n"
        "        run(torch.ones(2), args.rate * (1 - n / args.total))\n",
        ("BRK709", NUMBER),
    ),
    "what is there may differ too": (
        "def grown(x, past=None):\n    if past is None:\n        return x * 2, x + 1\n    both = torch.cat([past, x])\n"
        "    return both.sum(), both\n\n\n"
        "def main():\n    run, past = torch.compile(grown), None\n    for _ in range(4):\n"
        "        y, past = run(torch.ones(2), past)\n",
        ("BRK711", "    if past is None:"),
        ("BRK712", "    both = torch.cat([past, x])"),
    ),
    "a random size": (
        "import random\n\n\ndef main():\n    run = torch.compile(step)\n    for _ in range(4):\n"
        "        run(torch.ones(random.randint(2, 9), 3), 2)\n",
        ("BRK712", NUMBER),
    ),
    "the last batch": (
        "from torch.utils.data import DataLoader, Dataset\n\n\nclass Data(Dataset):\n"
        "    def __len__(self):\n        return 10\n\n    def __getitem__(self, at):\n"
        "        return torch.ones(4), at\n\n\ndef main():\n    run = torch.compile(step)\n"
        "    for x, y in DataLoader(Data(), batch_size=4):\n        run(x, 2)\n",
        ("BRK712", NUMBER),
    ),
    "what a closure has": (
        "def make(number):\n    @torch.compile\n    def inner(x):\n        return x * number\n\n"
        "    return inner\n\n\ndef main():\n    for number in (1.5, 2.5):\n"
        "        make(number)(torch.ones(2))\n",
        ("BRK709", "        return x * number"),
    ),
    "two objects of one class": (
        "class Part(nn.Module):\n    def __init__(self, act):\n        super().__init__()\n"
        "        self.act = act\n\n    def forward(self, x):\n        return x if self.act else -x\n\n\n"
        "def main():\n    a, b = torch.compile(Part(False)), torch.compile(Part(True))\n"
        "    a(torch.ones(2))\n    b(torch.ones(2))\n",
        ("BRK710", "        return x if self.act else -x"),
    ),
    "a model that is compiled in place": (
        "def main():\n    net = Net()\n    net.compile()\n    for n in (2, 3):\n"
        "        net(torch.ones(n, 4))\n",
        ("BRK712", FLOW),
    ),
    "a number of threads": (
        "def main():\n    run = torch.compile(step)\n    run(torch.ones(2), 2)\n"
        "    torch.set_num_threads(3)\n    run(torch.ones(2), 2)\n",
        ("BRK719", NUMBER),
    ),
    "behind the main guard": (
        "@torch.no_grad()\ndef evaluate(net):\n    return net(torch.ones(2, 4))\n\n\n"
        "if __name__ == '__main__':\n    net = torch.compile(Net())\n    net(torch.ones(2, 4))\n"
        "    evaluate(net)\n",
        ("BRK718", FLOW),
    ),
    "a function of the closure": (
        "def main():\n    for op in (torch.add, torch.mul):\n        def apply(x):\n"
        "            return op(x, 2)\n        torch.compile(apply)(torch.ones(2))\n",
        ("BRK720", "            return op(x, 2)"),
    ),
    "a number, behind a reset": (
        "def main():\n    run = torch.compile(step)\n    run(torch.ones(2), 7)\n    torch.compiler.reset()\n"
        "    for n in (2, 3):\n        run(torch.ones(2), n)\n",
        ("BRK708", NUMBER),
    ),
    "the mode of a module of the closure": (
        "def main():\n    net = nn.Dropout()\n    @torch.compile\n    def run(x):\n        return net(x)\n"
        "    run(torch.ones(2))\n    net.eval()\n    run(torch.ones(2))\n",
        ("BRK722", "        return net(x)"),
    ),
    "the mode of a global model": (
        "net = nn.Sequential(nn.Linear(4, 4), nn.Dropout())\n\n\n@torch.compile\ndef run(x):\n    return net(x)\n\n\n"
        "run(torch.ones(2, 4))\nnet.eval()\nrun(torch.ones(2, 4))\n",
        ("BRK722", "    return net(x)"),
    ),
    "the parameters of a module that is handed in": (
        "@torch.compile\ndef run(model, x):\n    return model(x)\n\n\nnet = Net()\nrun(net, torch.ones(2, 4))\n"
        "net.linear.requires_grad_(False)\nrun(net, torch.ones(2, 4))\n",
        ("BRK718", "    return model(x)"),
    ),
    "one row among many, of sizes that are dynamic": (
        "def main():\n    run = torch.compile(step, dynamic=True)\n    for n in (3, 4, 1):\n"
        "        run(torch.ones(n), 2)\n",
        ("BRK712", NUMBER),
    ),
    "another number of dimensions, where sizes are dynamic": (
        "def main():\n    net = torch.compile(nn.ReLU(), dynamic=True)\n    net(torch.ones(3))\n"
        "    net(torch.ones(3, 3))\n",
        ("BRK712", "    net(torch.ones(3, 3))"),
    ),
    "an item of a dict": (
        "@torch.compile\ndef scaled(x, by):\n    return x * by['a']\n\n\nx = torch.ones(2)\n"
        "scaled(x, {'a': 2})\nscaled(x, {'a': 3, 'b': 3})\n",
        ("BRK708", "    return x * by['a']"),
    ),
    "an item": (
        "@torch.compile\ndef both(pair):\n    return pair[0] * pair[-1]\n\n\nfor n in (2, 3):\n"
        "    both((torch.ones(2), n))\n",
        ("BRK708", "    return pair[0] * pair[-1]"),
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
    source, *expected = PROGRAMS[what]
    assert lines_of(tmp_path, source) == expected


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
        "def main():\n    run = torch.compile(dynamic=True)(step)\n    for n in (2, 3, 4):\n"
        "        run(torch.ones(n), n)\n",
        # nothing that was compiled before is left
        "def main():\n    run = torch.compile(step)\n    for n in (2, 3, 4):\n        torch._dynamo.reset()\n"
        "        run(torch.ones(n), n)\n",
        "run = torch.compile(step)\nrun(torch.ones(2), 2)\ntorch.compiler.reset()\nrun(torch.ones(3), 3)\n",
        # what the function does not read
        "@torch.compile\ndef scaled(x, by):\n    return x * by['a']\n\n\nx = torch.ones(2)\n"
        "scaled(x, {'a': 2})\nscaled(x, {'a': 2, 'b': 3})\nscaled(x, {0: 1, 'a': 2})\n",
        "@torch.compile\ndef first(pair):\n    return pair[0] * 2\n\n\nx = torch.ones(2)\n"
        "for other in (1, 2.0, 'a'):\n    first((x, other))\n",
        "def main():\n    x, y = torch.ones(2), torch.ones(2)\n    def double(a):\n        return a * 2\n"
        "    run = torch.compile(double)\n    run(x)\n    run(y)\n    run(torch.ones(2))\n",
        # what nobody knows
        "def main(loader, scale):\n    run = torch.compile(step)\n    for x in loader:\n"
        "        run(x, 2)\n        run(run(x, 2), 2)\n        run(x.to('cpu'), 2)\n",
        # back where it was at each call
        "def main():\n    net = Net()\n    run = torch.compile(net)\n    for _ in range(3):\n"
        "        net.rate = 2.0\n        net.rate = 1.0\n        run(torch.ones(2, 4))\n",
        # what holds anyway
        "def main():\n    run = torch.compile(step)\n    run(torch.ones(2), 2)\n    with torch.enable_grad():\n"
        "        run(torch.ones(2), 2)\n    torch.set_default_dtype(torch.float32)\n    run(torch.ones(2), 2)\n",
        # batches of one size
        "from torch.utils.data import DataLoader, TensorDataset\n\n\ndef main():\n    run = torch.compile(step)\n"
        "    data = TensorDataset(torch.ones(10, 4))\n"
        "    for (x,) in DataLoader(data, batch_size=4, drop_last=True):\n        run(x, 2)\n",
        # models that were prepared otherwise, of which one is compiled
        "def main():\n    one, two = Net(), Net()\n    run = torch.compile(one)\n    run(torch.ones(2, 4))\n"
        "    two.requires_grad_(False)\n    two.eval()\n    run(torch.ones(2, 4))\n",
        # a model that the function has not, and one whose mode means nothing
        "def main():\n    net, other = nn.Dropout(), nn.Dropout()\n    @torch.compile\n    def run(x):\n"
        "        return net(x)\n    run(torch.ones(2))\n    other.eval()\n    run(torch.ones(2))\n",
        "def main():\n    net = nn.Linear(2, 2)\n    @torch.compile\n    def run(x):\n        return net(x)\n"
        "    run(torch.ones(2))\n    net.eval()\n    run(torch.ones(2))\n",
        # another model
        "def main():\n    net, other = torch.compile(Net()), nn.Dropout()\n    net(torch.ones(2, 4))\n"
        "    other.eval()\n    net(torch.ones(2, 4))\n",
    ],
)
def test_what_does_not_differ_is_no_hazard(source, tmp_path):
    assert lines_of(tmp_path, source) == []


def test_each_attribute_of_an_argument_is_shown_where_it_is_read(tmp_path):
    program = """\
    import torch


    class Settings:
        def __init__(self, number, flag):
            self.number, self.flag = number, flag


    @torch.compile
    def step(x, cfg):
        x = x * cfg.number
        return x + 1 if cfg.flag else x


    for settings in (Settings(2, False), Settings(3, False), Settings(2, True)):
        step(torch.ones(2), settings)
    """
    assert found(analysed(tmp_path, {"run.py": program})) == [("BRK708", 11), ("BRK710", 12)]
