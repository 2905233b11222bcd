"""What is compiled where no name at the top of the file leads to it is a region."""

import pytest
from programs import analysed, found

WRAPPING = "def timed(function):\n    def inner(*args):\n        return function(*args)\n    return inner\n"
COMPILED = {
    "a decorated function": "def main():\n    @torch.compile\n    def step(x):\n        print(x)\n        return x\n",
    "with options": "def main():\n    @torch.compile(dynamic=True)\n    def step(x):\n        print(x)\n"
    "        return x\n",
    "in a method": "class Trainer:\n    def fit(self):\n        @torch.compile\n        def step(x):\n"
    "            print(x)\n            return x\n        step(torch.ones(2))\n",
    "a module": "def main():\n    class Net(torch.nn.Module):\n        def forward(self, x):\n            print(x)\n"
    "            return x\n    torch.compile(Net())(torch.ones(2))\n",
    "a module, by a curried call": "def main():\n    class Net(torch.nn.Module):\n        def forward(self, x):\n"
    "            print(x)\n            return x\n    net = Net()\n"
    "    run = torch.compile(mode='default')(net)\n    run(torch.ones(2))\n",
    "by name": "def main():\n    def step(x):\n        print(x)\n        return x\n"
    "    torch.compile(model=step, dynamic=False)(torch.ones(2))\n",
    "under another decorator": WRAPPING
    + "@timed\n@torch.compile\ndef step(x):\n    print(x)\n    return x\n",
    "a method under another decorator": WRAPPING
    + "class Trainer:\n    @timed\n    @torch.compile\n"
    "    def step(self, x):\n        print(x)\n        return x\n",
    "what its closure has": "def main():\n    loud = True\n    @torch.compile\n    def step(x):\n        if loud:\n"
    "            print(x)\n        return x\n    step(torch.ones(2))\n",
}


@pytest.mark.parametrize("what", COMPILED)
def test_what_is_compiled_in_a_function_is_a_region(what, tmp_path):
    source = "import torch\n" + COMPILED[what]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "print(x)" in text)
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK401", line)]


@pytest.mark.parametrize(
    "source",
    [
        "def main():\n    def step(x):\n        print(x)\n        return x\n    step(torch.ones(2))\n",
        "def main():\n    class Net(torch.nn.Module):\n        def forward(self, x):\n            print(x)\n"
        "            return x\n    Net()(torch.ones(2))\n    torch.compile(lambda x: x)(torch.ones(2))\n",
        "def main():\n    @torch.compile\n    def step(x):\n        return x\n    print(step(torch.ones(2)))\n",
        "def main():\n    return torch.compile(), torch.compile(None), torch.compile(**{}), torch.compile(*[])\n",
        "def main():\n    return torch.compile(mode='default')(), torch.compile(mode=1)(1, 2, x=3)\n",
    ],
)
def test_what_is_not_compiled_is_none(source, tmp_path):
    assert found(analysed(tmp_path, {"run.py": "import torch\n" + source})) == []
