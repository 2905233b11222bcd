"""What the interpreter follows: a program for each shape of code, and the breaks that Dynamo shows
in it."""

import textwrap

import pytest
from programs import TORCH, analysed, found, seen, write

from breakscope.static import StaticOptions, analyze

HEAD = "import functools\nimport torch\nfrom torch import nn\n\n\n"
LOOP_LOSES = "total = 0\n        for _ in range(2):\n            total = total + x[x > 0].sum()\n"


LOG = (
    "class Log:\n    def write(self, n):\n        print(n)\n\n    def keep(self, n):\n        self.n = n\n\n"
    "    def __call__(self, n):\n        print(n)\n\n\n"
)
SCALED = (
    "import contextlib\n\n\nclass Scaled(nn.Module):\n    @contextlib.contextmanager\n    def scaled(self, scale):\n"
    "        old, self.scale = self.scale, scale\n        try:\n            yield\n        finally:\n            self.scale = old\n\n\n"
)


def model(forward: str, before: str = "", init: str = "pass") -> str:
    return (
        f"{HEAD}{before}class Net(nn.Module):\n    def __init__(self, size=4):\n        super().__init__()\n"
        f"        {init}\n\n    def forward(self, x):\n        {forward}\n"
    )


CACHED = (
    "class Sizes:\n    @functools.cached_property\n    def double(self):\n        return 8\n\n\n"
)
SLOW = "class Slow(nn.Module):\n    def forward(self, x):\n        return x.item()\n\n\n"
REPLACE = "def fast(cls):\n    def forward(self, x):\n        return x * 2\n    cls.forward = forward\n    return cls\n\n\n"

WRAP = (
    "def wrap(function):\n    @functools.wraps(function)\n    def wrapper(*args, **kwargs):\n"
    "        return function(*args, **kwargs)\n    return wrapper\n\n\n"
)

READS = (
    "class Reads:\n    def __init__(self, x):\n        self.x = x\n\n    @property\n    def value(self):\n"
    "        return self.x.sum().item()\n\n    def __add__(self, other):\n        return self.x.sum().item() + other\n\n"
    "    def __bool__(self):\n        return self.x.sum().item() > 0\n\n\n"
)

MERGED = (
    "def merged(function):\n    @functools.wraps(function)\n    def wrapper(self, *args, **kwargs):\n"
    "        for name in ['use_cache', 'layer']:\n            index = None\n"
    "            if name in function.__code__.co_varnames:\n                index = function.__code__.co_varnames.index(name) - 1\n"
    "            if index is not None and len(args) > index:\n                args = list(args)\n"
    "                args[index] = self.config.layer\n                args = tuple(args)\n"
    "            else:\n                kwargs[name] = self.config.layer\n"
    "        return function(self, *args, **kwargs)\n    return wrapper\n\n\n"
)
FIELDS = (
    "import dataclasses\n\n\nclass Base:\n    def __init__(self, **kwargs):\n        pass\n\n    def __getitem__(self, k):\n"
    "        return self.to_tuple()[k]\n\n    def to_tuple(self):\n        return tuple(v for v in vars(self).values() if v is not None)\n\n\n"
    "@dataclasses.dataclass\nclass Out(Base):\n    last: torch.Tensor\n    count: object = None\n    rest: object = None\n\n\n"
    "class Inner(nn.Module):\n    def forward(self, x):\n        return Out(last=x * 2, count=x.sum())\n\n\n"
)
SETTER = (
    "class Config:\n    def __init__(self, kind=None):\n        self.kind = kind\n\n    @property\n    def kind(self):\n"
    "        return self._kind\n\n    @kind.setter\n    def kind(self, value):\n        self._kind = value\n\n\n"
)
ANNOUNCED = (
    "import abc\n\n\nclass Posed(abc.ABC):\n    @property\n    def shape(self) -> tuple:\n        raise NotImplementedError('no')\n\n"
    "    def score(self, x) -> torch.Tensor:\n        name = type(self).__name__\n        raise NotImplementedError(name)\n\n"
    "    @abc.abstractmethod\n    def mean(self, x) -> torch.Tensor:\n        pass\n\n\n"
)
FIELDED = (
    "class Fields:\n    def __init__(self):\n        self._kept = {}\n\n    def __setattr__(self, name, value):\n"
    "        if name.startswith('_'):\n            super().__setattr__(name, value)\n        else:\n"
    "            self._kept[name] = value\n\n    def __getattr__(self, name):\n        if name not in self._kept:\n"
    "            raise AttributeError(name)\n        return self._kept[name]\n\n    def picked(self, item):\n"
    "        return {name: value[item] for name, value in self._kept.items()}\n\n\n"
)
AROUND = (
    "class Around(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n\n"
    "    def __getattr__(self, name):\n        try:\n            return super().__getattr__(name)\n        except AttributeError:\n"
    "            return getattr(self.inner, name)\n\n    def forward(self, x):\n        return self.inner(x)\n\n\n"
    "class Inner(nn.Module):\n    def score(self, x):\n        return x.sum().item()\n\n    def forward(self, x):\n        return x * 2\n\n\n"
)
POSITIVE = (
    "def positive(x):\n    for i in range(3):\n        if x[i] > 0:\n            yield i\n\n\n"
)
NAMED = "self.first, self.second, self.limit = nn.Linear(4, 4), nn.GRU(4, 4), 2"

PROGRAMS = {
    "a cached property that is read again": (
        model(
            "if self.training:\n            x = x * self.sizes.double\n        x = x * self.sizes.double\n"
            "        return x * self.sizes.double",
            CACHED,
            "self.sizes = Sizes()",
        ),
        ["BRK524", "BRK524"],
    ),
    "a cache that the region itself hangs into a layer": (
        model(
            "self.inner.cache = Cache()\n        return self.inner(x)",
            "class Cache:\n    def read(self, x):\n        return x.item()\n\n\nclass Inner(nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.cache = None\n\n    def forward(self, x):\n"
            "        if self.cache is not None:\n            x = x * self.cache.read(x)\n        return x\n\n\n",
            "self.inner = Inner()",
        ),
        ["BRK201"],
    ),
    "a copy of what outlives the call": (
        model(
            "made = copy.deepcopy(STATE)\n        made['steps'].append(4)\n        return x + len(made['steps'])",
            "import copy\n\nSTATE = {'steps': [1]}\n\n\n",
        ),
        [],
    ),
    "lists inside of what outlives the call": (
        model(
            "self.meters['loss'].append(x)\n        self.kept.setdefault('x', []).append(x)\n        self.more['y'].append(x)\n"
            "        return x * 2",
            "import collections\n\n\n",
            "self.meters, self.kept, self.more = {'loss': []}, {}, collections.defaultdict(list)",
        ),
        ["BRK703", "BRK703", "BRK704", "BRK703"],
    ),
    "a list that loses what it gains": (
        model(
            "self.a.clear()\n        self.a.append(x)\n        self.b.append(x)\n        y = self.b.pop(0)\n"
            "        self.c.append(x)\n        del self.c[0]\n        return x + y",
            init="self.a, self.b, self.c = [], [0], [0]",
        ),
        [],
    ),
    "a list that is filled in the first calls": (
        model(
            "if len(self.a) < 2:\n            self.a.append(1)\n        if not self.b:\n            self.b.append(1)\n"
            "        if 3 not in self.c:\n            self.c.append(3)\n        return x",
            init="self.a, self.b, self.c = [], [], []",
        ),
        [],
    ),
    "the class of a layer of torch's": (
        model(
            "if isinstance(self.a, (torch.nn.Conv2d, torch.nn.LSTM)):\n            x = x * x.sum().item()\n"
            "        if isinstance(self.a, torch.nn.Module):\n            x = x * x.max().item()\n"
            "        if isinstance(self.b, torch.nn.Conv2d):\n            x = x * x.min().item()\n        return x",
            init="self.a, self.b = torch.nn.Linear(2, 2), torch.nn.LazyConv2d(2, 2)",
        ),
        ["BRK201", "BRK201"],
    ),
    "lists that are cut where they are long": (
        model(
            "self.a.append(x)\n        if len(self.a) > 100:\n            self.a.pop(0)\n        self.b.append(x)\n"
            "        while len(self.b) > self.most:\n            del self.b[0]\n        return x",
            init="self.a, self.b, self.most = [], [], 10",
        ),
        ["BRK703", "BRK703"],
    ),
    "lists that are cut where they are short": (
        model(
            "self.a.append(x)\n        if len(self.a) > 3:\n            self.a.pop(0)\n        self.b.append(x)\n"
            "        if len(self.b) > x.size(0):\n            self.b.pop(0)\n        return x",
            init="self.a, self.b = [], []",
        ),
        ["BRK703"],
    ),
    "a number that the next call finds changed": (
        model(
            "if self.n % 100 == 99:\n            x = x * x.sum().item()\n        self.n += 1\n"
            "        if self.n > 3:\n            x = x * x.max().item()\n        return x",
            init="self.n = 0",
        ),
        ["BRK201", "BRK701", "BRK201"],
    ),
    "a number that stays": (
        model(
            "if self.n > 3:\n            x = x * x.max().item()\n        return x",
            init="self.n = 0",
        ),
        [],
    ),
    "a list that is filled behind a flag": (
        model(
            "if not self.done:\n            self.a.append(1)\n            self.done = True\n        return x",
            init="self.a, self.done = [], False",
        ),
        ["BRK706"],
    ),
    "a list that grows behind other tests": (
        model(
            "if self.training:\n            self.a.append(1)\n        if self.b:\n            self.b.append(1)\n"
            "        if len(self.c) != 0:\n            self.c.append(1)\n"
            "        if len(self.d) > 2:\n            pass\n        else:\n            self.d.append(1)\n        return x",
            init="self.a, self.b, self.c, self.d = [], [1], [1], []",
        ),
        ["BRK703", "BRK703", "BRK703", "BRK703"],
    ),
    "attributes that __setattr__ keeps in a dict": (
        model(
            "kept = Fields()\n        kept.score = x * 2\n        return kept.picked(kept.score > 0)",
            FIELDED,
        ),
        ["BRK302", "BRK113", "BRK558"],
    ),
    "a module around another that lends its methods": (
        model(
            "return self.around(x) * self.around.score(x)", AROUND, "self.around = Around(Inner())"
        ),
        ["BRK201"],
    ),
    "a break in a generator loses the loop that drives it": (
        model(
            "found = (x > 0).any()\n        for i in positive(x):\n            x = x + 1 if found else x\n        return x",
            POSITIVE,
        ),
        ["BRK101"],
    ),
    "names unpacked from a generator expression": (
        model(
            "flags = (name == 'b' for name in ('a', 'b'))\n        first, second = flags\n        if first:\n            print(x)\n"
            "        if second:\n            x.item()\n        return x"
        ),
        ["BRK201"],
    ),
    "a method that the annotated class only announces": (
        model(
            "x = self.posed.score(x)\n        print(x)\n        return x",
            ANNOUNCED,
            "self.posed = posed",
        ).replace("size=4", "posed: Posed"),
        ["BRK401"],
    ),
    "what an announced method's annotation says": (
        model(
            "if self.posed.score(x) > 0 or self.posed.mean(x) > 0:\n            x = x * 2\n        return x",
            ANNOUNCED,
            "self.posed = posed",
        ).replace("size=4", "posed: Posed"),
        ["BRK101", "BRK101"],
    ),
    "an announced property that is tried": (
        model(
            "try:\n            shape = self.posed.shape\n        except NotImplementedError:\n            print(x)\n        return x",
            ANNOUNCED,
            "self.posed = posed",
        ).replace("size=4", "posed: Posed"),
        [],
    ),
    "a method of its own class that is tried": (
        model(
            "try:\n            return self.quick(x)\n        except NotImplementedError:\n            print(x)\n        return x\n\n"
            "    def quick(self, x):\n        raise NotImplementedError"
        ),
        ["BRK401"],
    ),
    "a decorator that fills in arguments by name": (
        model("return x", MERGED).replace(
            "    def forward(self, x):\n        return x",
            "    @merged\n    def forward(self, x: torch.Tensor, n: torch.Tensor, **kwargs):\n"
            "        return torch.repeat_interleave(x[:, 0], n[:, 0])",
        ),
        ["BRK307"],
    ),
    "an inherited __init__ under the one that a dataclass writes": (
        model(
            "out = self.inner(x)\n        if out.count > 0:\n            x = x * 2\n        if out[1] > 0:\n            x = x * 2\n"
            "        return x + out.last",
            FIELDS,
            "self.inner = Inner()",
        ),
        ["BRK101", "BRK101"],
    ),
    "an attribute of a tuple or an object": (
        model(
            "out = self.inner(x)\n        out = out if self.training else out.to_tuple()\n        if out.last.sum() > 0:\n"
            "            x = x * 2\n        return x",
            FIELDS,
            "self.inner = Inner()",
        ),
        ["BRK101"],
    ),
    "a mask beside a slice says that a tensor is indexed": (
        model("return self.unknown(x)[x > 0, :].sum()"),
        ["BRK302"],
    ),
    "what a property's setter keeps": (
        model(
            "self.config.kind = 'slow' if self.training else 'fast'\n        if self.config.kind is None:\n            print(x)\n"
            "        return x.sum().item() if self.config.kind == 'fast' else x",
            SETTER,
            "self.config = Config()\n        self.config.kind = 'fast'",
        ),
        ["BRK201"],
    ),
    "a dimension that a tensor of known size does not have": (
        model(
            "rows = torch.ones(4)\n        size = rows.size(-2) if self.training else rows.size(3)\n        return x.sum().item() * size"
        ),
        ["BRK201"],
    ),
    "a loop over names of layers": (
        model(
            "for name in ('first', 'second'):\n            x = getattr(self, name)(x)\n        return x",
            init=NAMED,
        ),
        ["BRK503"],
    ),
    "a loop over names of what does not break": (
        model(
            "kept = {}\n        for name in ['first', 'limit']:\n            kept[name] = getattr(self, name)\n"
            "        if 'second' in kept:\n            print(x)\n        return kept['first'](x) * kept['limit']",
            init=NAMED,
        ),
        [],
    ),
    "a loop over names that is left": (
        model(
            "for name in ('a', 'b', 'c'):\n            if name == 'b':\n                continue\n            if name == 'c':\n"
            "                break\n        else:\n            x = x * x.sum().item()\n        for name, layer in (('a', 1), ('b', x)):\n"
            "            if name == 'b':\n                return layer.sum().item()\n        print('never')"
        ),
        ["BRK201"],
    ),
    "a comprehension over a list in a lost function": (
        model(f"rows = list(x)\n        {LOOP_LOSES}        return [torch.relu(r) for r in rows]"),
        ["BRK302", "BRK113"],
    ),
    "a comprehension in front of what skips the function": (
        model(
            f"rows = [torch.relu(r) for r in zip(x, x)]\n        {LOOP_LOSES}        return rows"
        ),
        ["BRK113", "BRK302"],
    ),
    "over a tuple, a range or a tensor": (
        model(
            f"{LOOP_LOSES}        return [torch.relu(x) for r in (x, x)], [torch.relu(x) for r in range(3)], "
            "[torch.relu(r) for r in x], [torch.relu(r) for r in [x, x]]"
        ),
        ["BRK302"],
    ),
    "a comprehension without a tensor of its own": (
        model(f"rows = list(x)\n        {LOOP_LOSES}        return [r + 1 for r in rows]"),
        ["BRK302"],
    ),
    "a break in a comprehension over zip": (
        model("return [torch.relu(r) * r.sum().item() for r, _ in zip(x, x)]"),
        ["BRK201", "BRK113"],
    ),
    "a break in a comprehension over a list": (
        model("return [torch.relu(r) * r.sum().item() for r in list(x)]"),
        ["BRK201"],
    ),
    "a function for TorchScript is traced through its source": (
        model(
            "return clip(x)",
            "@torch.jit.script\ndef clip(x: torch.Tensor):\n    if torch.all(x > 0):\n        return x\n"
            "    return x * 2\n\n\n",
        ),
        ["BRK101"],
    ),
    "a method of a computed name": (
        model(
            "return getattr(self, f'{self.kind}_loss')(x)\n\n    def hard_loss(self, x):\n        return x.item()\n\n"
            "    def loss_of(self, x):\n        return x.tolist()",
            init="self.kind = str(size)",
        ),
        ["BRK201"],
    ),
    "a method of a computed name in three ways": (
        model(
            "return getattr(self, '{}_loss'.format(self.kind))(x)\n\n    def hard_loss(self, x):\n        return x.item()\n"
            "\n    def soft(self, x):\n        return getattr(self, 'many_' + self.kind)(x)\n\n    def many_one(self, x):\n"
            "        return getattr(self, 'few_%s' % self.kind)(x)\n\n    def few_one(self, x):\n        return x\n",
            init="self.kind = str(size)",
        ),
        ["BRK201"],
    ),
    "a name of which too little is known": (
        model(
            "return getattr(self, f'{self.kind}_')(x)\n\n    def hard_(self, x):\n        return x.item()",
            init="self.kind = str(size)",
        ),
        [],
    ),
    "what a comparison of the unknown indexes": (
        model(
            "rows = unknown(x)\n        high = rows > 2\n        both = high & (rows < 5)\n"
            "        return rows[high], rows[both], rows[~high]",
            "from elsewhere import unknown\n\n\n",
        ),
        ["BRK302", "BRK302", "BRK302"],
    ),
    "any of a comparison of arguments": (
        model(
            "return x\n\n    def check(self, low=None, high=None):\n        if (low > high).any():\n            return 1\n"
            "        return 0\n\n\nclass Checked(Net):\n    def forward(self, x, low=None, high=None):\n"
            "        return x * self.check(low, high)"
        ),
        ["BRK101"],
    ),
    "a mask with a letter behind its name": (
        model("return x[mask_m], x[mask2], x[mask_index]").replace(
            "forward(self, x)",
            "forward(self, x, mask_m: torch.Tensor, mask2: torch.Tensor, mask_index: torch.Tensor)",
        ),
        ["BRK302", "BRK302"],
    ),
    "a property through super() that is kept in a name": (
        model(
            "scale = super().scale\n        if scale is None:\n            return x\n        return x * scale",
            "class Base(nn.Module):\n    @property\n    def scale(self):\n        return 2.0\n\n\n",
        ).replace("Net(nn.Module)", "Net(Base)"),
        ["BRK553"],
    ),
    "a property through super() that is handed on": (
        model(
            "return x, super().scale, helper(super().scale)",
            "class Base(nn.Module):\n    @property\n    def scale(self):\n        return 2.0\n\n\ndef helper(x):\n"
            "    return x\n\n\n",
        ).replace("Net(nn.Module)", "Net(Base)"),
        [],
    ),
    "nested types of what may be a tensor": (
        model(
            "return x + isinstance(unknown(x), (int, (torch.Tensor, list))) + isinstance(x, (int, (list, tuple)))",
            "from elsewhere import unknown\n\n\n",
        ),
        [],
    ),
    "nested types of what is no tensor": (
        model("return x if isinstance(x.shape, (int, (tuple, list))) else -x"),
        ["BRK554"],
    ),
    "a generator expression is left alone": (
        model(
            f"rows = list(x)\n        {LOOP_LOSES}        return sum(torch.relu(r) for r in rows)"
        ),
        ["BRK302"],
    ),
    "what an expression asks of an optional tensor": (
        model(
            "return self.part(x)",
            "from typing import Optional\nclass Part(nn.Module):\n"
            "    def forward(self, x, mask: Optional[torch.Tensor] = None):\n"
            "        if mask is not None and mask.max() > 4:\n            raise ValueError('too large')\n"
            "        new = mask is not None and bool(mask.any())\n"
            "        sizes = mask.sum(-1).tolist() if mask is not None else [4]\n        return x\n\n\n",
            "self.part = Part()",
        ),
        [],
    ),
    "what a block asks of an optional tensor": (
        model(
            "return self.part(x)",
            "from typing import Optional\nclass Part(nn.Module):\n"
            "    def forward(self, x, mask: Optional[torch.Tensor] = None):\n        if mask is not None:\n"
            "            if mask.max() > 4:\n                raise ValueError('too large')\n"
            "            new, sizes = bool(mask.any()), mask.sum(-1).tolist()\n        return x\n\n\n",
            "self.part = Part()",
        ),
        ["BRK102", "BRK202", "BRK204"],
    ),
    "a break that another operand of the test may keep away": (
        model(
            "rows = list(x)\n        for _ in range(2):\n            if self.flag and x.sum() > 0:\n                x = x + 1\n"
            "        return [torch.relu(r) for r in rows]",
            init="self.flag = size",
        ),
        ["BRK101", "BRK113"],
    ),
    "a break behind an early return": (
        model(
            "rows = list(x)\n        for _ in range(2):\n            x = read(x, self.flag)\n"
            "        return [torch.relu(r) for r in rows]",
            "def read(x, flag):\n    if not flag:\n        return x\n    return x + x.item()\n\n\n",
            "self.flag = size",
        ),
        ["BRK201", "BRK113"],
    ),
    "a break in one of the functions that a key chooses": (
        model(
            "rows = list(x)\n        for _ in range(2):\n            x = READERS[self.kind](x)\n"
            "        return [torch.relu(r) for r in rows]",
            "READERS = {'fast': lambda x: x * 2, 'slow': lambda x: x + x.item()}\n\n\n",
            "self.kind = size",
        ),
        ["BRK201"],
    ),
    "a helper without a tensor is left alone in a lost function": (
        model(f"{LOOP_LOSES}        tell(3)\n        return x", "def tell(n):\n    print(n)\n\n\n"),
        ["BRK302"],
    ),
    "a helper with a tensor, or one that names torch": (
        model(
            f"{LOOP_LOSES}        tell(x)\n        return x * ones(2)",
            "def tell(n):\n    print(1)\n\n\n"
            "def ones(n):\n    print(n)\n    return torch.ones(())\n\n\n",
        ),
        ["BRK401", "BRK401", "BRK302"],
    ),
    "a helper without a tensor breaks once": (
        model("tell(3)\n        return x", "def tell(n):\n    print(n)\n    print(n + 1)\n\n\n"),
        ["BRK401"],
    ),
    "a function around such a helper that shows it a module": (
        model(
            f"def tell(n):\n            print(n, self.training)\n        {LOOP_LOSES}        tell(3)\n        return x"
        ),
        ["BRK401", "BRK302"],
    ),
    "a generator in a lost function": (
        model(
            f"{LOOP_LOSES}        return [r for r in reads(x)]",
            "def reads(x):\n    for r in x:\n        yield r.item()\n\n\n",
        ),
        ["BRK302"],
    ),
    "a comprehension of a lost function that is not compiled has no breaks": (
        model(
            f"rows = list(x)\n        {LOOP_LOSES}        return [r.item() for r in rows], [(r * x).sum().item() for r in rows]"
        ),
        ["BRK302", "BRK113"],
    ),
    "a property, and what operators call, lose the function": (
        model("y = Reads(x)\n        y = y.value + 1\n        print(y)\n        return x", READS),
        ["BRK201"],
    ),
    "an operator of an object": (
        model("y = Reads(x) + 1\n        print(y)\n        return x", READS),
        ["BRK201"],
    ),
    "a test of an object": (
        model(
            "y = Reads(x)\n        if y:\n            x = x + 1\n        print(y)\n        return x",
            READS,
        ),
        ["BRK201"],
    ),
    "a call of bool on it does not": (
        model("y = bool(Reads(x))\n        print(y)\n        return x", READS),
        ["BRK201", "BRK401"],
    ),
    "an attribute that is given back": (
        model(
            "with self.scaled(4):\n            y = x * self.scale\n        return y",
            SCALED,
            "self.scale = 1",
        ).replace("class Net(nn.Module)", "class Net(Scaled)"),
        [],
    ),
    "an attribute that is given back behind a try": (
        model(
            "old, self.scale = self.scale, 4\n        try:\n            return x * self.scale\n        finally:\n"
            "            self.scale = old",
            init="self.scale = 1",
        ),
        [],
    ),
    "an attribute that is given back at times": (
        model(
            "y = x * self.scale\n        self.scale = 4\n        if x.shape[0] > 3:\n            self.scale = 1\n        return y",
            init="self.scale = 1",
        ),
        ["BRK706"],
    ),
    "a counter that begins where it is first read": (
        model("self.calls = getattr(self, 'calls', 0) + 1\n        return x * 2"),
        ["BRK701"],
    ),
    "a counter of the class itself": (
        model("type(self).made += 1\n        return x * 2").replace(
            "    def __init__", "    made = 0\n\n    def __init__"
        ),
        ["BRK701"],
    ),
    "numbers in a dict and a list that count": (
        model(
            "for i in range(2):\n            self.seen[i] += 1\n            self.rows[i] += 1\n            self.free[i] += 1\n"
            "        return x * 2",
            "import collections\n\n\n",
            "self.seen, self.rows = {i: 0 for i in range(3)}, [0, 0]\n        self.free = collections.defaultdict(int)",
        ),
        ["BRK701", "BRK701", "BRK701"],
    ),
    "an attribute that was None and is set in several places": (
        model(
            "if self.mem is None:\n            self.mem = x * 0\n        self.mem = self.mem + x\n"
            "        self.mem = self.mem * 2\n        return self.mem * 1",
            init="self.mem = None",
        ),
        ["BRK707"],
    ),
    "an attribute that was None and is set by a helper before it is read": (
        model(
            "fill(self, x)\n        self.mem = self.mem + x\n        return self.mem * 1",
            "def fill(m, x):\n    m.mem = x * 0\n\n\n",
            "self.mem = None",
        ),
        [],
    ),
    "an attribute that was None and is set in the first call before it is read": (
        model(
            "if not self.ready:\n            self.mem = x * 0\n            self.ready = True\n        return self.mem * 1",
            init="self.mem, self.ready = None, False",
        ),
        ["BRK706"],
    ),
    "a method that a subclass has to bring, which says so": (
        model(
            "y = self.act(x)\n        print('after')\n        return y\n\n    def act(self, x):\n"
            "        print('missing')\n        raise NotImplementedError('act')"
        ),
        ["BRK401"],
    ),
    "a trainer that is written as a module": (
        model("x.sum().backward()\n        print('trained')").replace(
            "forward(self, x)", "forward(self)"
        ),
        [],
    ),
    "what a helper of checkpointing returns": (
        model(
            "if self.seen is None:\n            x = x * 2\n"
            "        self.seen, rest = torch.utils.checkpoint.get_device_states(x)\n        return x",
            init="self.seen = None",
        ),
        ["BRK599"],
    ),
    "a flag that changes in turns": (
        model(
            "self.even = not self.even\n        return x if self.even else -x",
            init="self.even = True",
        ),
        ["BRK706"],
    ),
    "the body of a custom operator": (
        model(
            "return twice(x).sum().item()",
            "@torch.library.custom_op('own::twice', mutates_args=())\n"
            "def twice(x: torch.Tensor) -> torch.Tensor:\n    print(x)\n    return x * 2\n\n\n@twice.register_fake\ndef _(x):\n"
            "    return torch.empty_like(x)\n\n\n",
        ),
        ["BRK201"],
    ),
    "a method of an object made here": (
        model("log = Log()\n        log.write(1)\n        print('late')\n        return x", LOG),
        ["BRK401", "BRK558"],
    ),
    "a method of an object that a helper makes": (
        model(
            "log = make_log()\n        log.write(1)\n        return x",
            LOG + "def make_log():\n    return Log()\n\n\n",
        ),
        ["BRK401", "BRK558"],
    ),
    "an object that Python made behind an earlier break": (
        model("log = Log()\n        print('early')\n        log.write(1)\n        return x", LOG),
        ["BRK401", "BRK401"],
    ),
    "a method of an object that the caller made": (
        model(
            "return tell(x, Log())", LOG + "def tell(x, log):\n    log.write(1)\n    return x\n\n\n"
        ),
        ["BRK401"],
    ),
    "a call of an object made here": (
        model("log = Log()\n        log(1)\n        print('late')\n        return x", LOG),
        ["BRK401", "BRK401"],
    ),
    "what is read for a method of an object made here": (
        model(
            "log = Log()\n        log.keep(x.sum().item())\n        print('late')\n        return x",
            LOG,
        ),
        ["BRK201"],
    ),
    "try and finally lose the function": (
        model(
            "rows = list(x)\n        try:\n            y = x[x > 0]\n        finally:\n            z = 1\n"
            "        return [torch.relu(r) for r in rows]"
        ),
        ["BRK302", "BRK113"],
    ),
    "places of a tuple that one branch makes longer": (
        model(
            "found = (x, (x.shape[0], x.shape[1]))\n        if self.training:\n            found = found + (x,)\n"
            "        height, width = found[1]\n        if height % 2 == 1:\n            return x * 2\n"
            "        if found[0].sum() > 0:\n            return x\n"
            "        return -x"
        ),
        ["BRK101"],
    ),
    "a cached property that is read for the first time": (
        model("return x * self.sizes.double", CACHED, "self.sizes = Sizes()"),
        ["BRK524"],
    ),
    "a buffer that one branch registers and another sets to None": (
        model(
            "if self.mask is None:\n            return x.item()\n        return x * self.mask",
            init="if size > 4:\n            self.mask = None\n        else:\n"
            "            self.register_buffer('mask', torch.ones(4))",
        ),
        ["BRK201"],
    ),
    "super that names another class": (
        HEAD + "class Base(nn.Module):\n    def read(self, x):\n        return x.item()\n\n\n"
        "class Middle(Base):\n    def read(self, x):\n        return x\n\n\n"
        "class Net(Middle):\n    def forward(self, x):\n        return super(Middle, self).read(x)\n",
        ["BRK201"],
    ),
    "the groups of a match as a dict": (
        model(
            "match = re.match('(?P<a>a)', 'a')\n        if match:\n            x = x * len(match.groupdict())\n"
            "        return x * len(match.groups())",
            before="import re\n\n\n",
        ),
        ["BRK545"],
    ),
    "what takes a dim is a tensor": (
        model(
            "y = self.loss(x)\n        if y.mean(dim=0) > 1:\n            x = x + 1\n        return x",
            init="self.loss = size",
        ),
        ["BRK101"],
    ),
    "a cached property that was read before": (
        model(
            "return x * self.sizes.double",
            CACHED,
            "self.sizes = Sizes()\n        self.sizes.double",
        ),
        [],
    ),
    "sorted items that hold an object": (
        model(
            "for key, value in sorted({'a': self, 'b': 2}.items()):\n            x = x + 1\n        return x"
        ),
        ["BRK112"],
    ),
    "sorted items of constants": (
        model(
            "for key, value in sorted({'a': 1, 'b': 2}.items()):\n            x = x + value\n        return x"
        ),
        [],
    ),
    "an attribute that two branches set": (
        model(
            "return self.inner(x)",
            SLOW,
            "if size > 4:\n            self.inner = Slow()\n        else:\n"
            "            self.inner = nn.ReLU()",
        ),
        ["BRK201"],
    ),
    "a class entered by its own __call__": (
        "from torch import nn\n\n\nclass Base(nn.Module):\n    def forward(self, *inputs):\n        raise NotImplementedError\n\n"
        "    def __call__(self, *inputs):\n        return [i.unsqueeze(0).max().item() for i in inputs]\n",
        ["BRK201"],
    ),
    "a mixin that stands behind a branch of the module": (
        HEAD
        + "if torch.cuda.is_available():\n    fast = True\n\n\nclass Reads:\n    def read(self, x):\n        return x.item()\n\n\n"
        "class Base(nn.Module, Reads):\n    limit = 4\n\n\nBase.limit = Base.limit + 1\n\n\nclass Net(Base):\n"
        "    def forward(self, x):\n        return self.read(x)\n",
        ["BRK201"],
    ),
    "a helper that asks whether Dynamo traces": (
        model(
            "if is_compiling() or x.sum() > 0:\n            return x\n        flag = not self.training or is_compiling()\n"
            "        return x if flag else x.item()",
            "def is_compiling():\n    if not hasattr(torch, 'compiler'):\n        return False\n    try:\n        return torch.compiler."
            "is_compiling()\n    except AttributeError:\n        return False\n\n\n",
        ),
        [],
    ),
    "a helper that asks whether Dynamo traces where torch can say so": (
        model(
            "return x if is_compiling() else x.item()",
            "HAS_IT = hasattr(torch, 'compiler')\n\n\ndef is_compiling():\n    if HAS_IT:\n        return torch.compiler."
            "is_compiling()\n    return False\n\n\n",
        ),
        [],
    ),
    "a tensor where a size must stand": (
        model(
            "shapes = torch.tensor([(1, 2) for _ in range(x.shape[0])])\n        return [torch.linspace(0, 1, h) for h, w in shapes]"
        ),
        ["BRK208"],
    ),
    "a parameter that only range takes": (
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x, steps):\n        for _ in range(steps):\n            x = x + 1\n"
        "        return x\n",
        [],
    ),
    "a flag among the arguments that are handed on": (
        HEAD
        + "class Net(nn.Module):\n    names = ('deep', 'wide')\n\n    def forward(self, x, **kwargs):\n        return self.inner(x=x, y=x * 2, **kwargs)\n\n"
        "    def inner(self, **kwargs):\n        flags = {n: kwargs.get(f'output_{n}') for n in self.names}\n"
        "        return kwargs['x'] if flags['deep'] else 0\n",
        [],
    ),
    "a wrapper around methods that takes everything by *args": (
        model("return self.read(x)", WRAP)
        + "\n    @wrap\n    def read(self, x):\n        return x.item()\n",
        ["BRK201"],
    ),
    "forward is inherited with such a wrapper": (
        f"{HEAD}{WRAP}class Base(nn.Module):\n    @wrap\n    def forward(self, x):\n        return self.read(x)\n\n\n"
        "class Net(Base):\n    def read(self, x):\n        return x.sum().item()\n",
        ["BRK201"],
    ),
    "a constructor behind a decorator that hides it": (
        f"{HEAD}import other\n\n\nclass Net(nn.Module):\n    @other.validated()\n    def __init__(self, size: int):\n"
        "        super().__init__()\n        self.rnn = nn.LSTM(size, size)\n\n    def forward(self, x):\n"
        "        return self.rnn(x)\n",
        ["BRK503"],
    ),
    "a recurrent module whose class a name chooses": (
        model(
            "return self.rnn(x)",
            "",
            "self.rnn = getattr(nn, kind.upper())(4, 4, num_layers=2, batch_first=True)",
        ),
        ["BRK503"],
    ),
    "a recurrent module that is only looked at": (
        model(
            "n = self.rnn.num_layers\n        print('late')\n        return self.rnn(x), n",
            "",
            "self.rnn = nn.LSTM(4, 4)",
        ),
        ["BRK503"],
    ),
    "rows of a reduction are numbers": (
        model(
            "scores = torch.einsum('bij,pij->bp', [x, x])\n        low, at = torch.min(scores, dim=1)\n"
            "        kept = x.new_zeros(2, 3).sum(1, keepdim=True)\n        rows = [x[m] for m in kept.long()]\n"
            "        return torch.stack([x[m] for m in at]), rows"
        ),
        ["BRK213"],
    ),
    "one number of an array of random numbers": (
        "import numpy as np\n" + model("return x * np.random.rand(1).item()"),
        ["BRK210"],
    ),
    "a hook on every child": (
        model(
            "return self.layer(x)",
            "def watch(module, args, out):\n    print(out)\n\n\n",
            "self.layer = nn.Linear(4, 4)\n        for name, child in self.named_children():\n"
            "            child.register_forward_hook(watch)",
        ),
        ["BRK401"],
    ),
    "a slice by a tensor loses what stands behind it": (
        model("n = (x > 0).sum()\n        y = x[:n]\n        print('late')\n        return y"),
        ["BRK206"],
    ),
    "a break in a generator loses what stands behind it": (
        model("y = sum(r.item() for r in x)\n        print('late')\n        return y"),
        ["BRK201"],
    ),
    "any() of a generator loses it, too": (
        model("y = any(r.sum() > 0 for r in x)\n        print('late')\n        return y"),
        ["BRK108"],
    ),
    "a break in a key function or in map is resumed": (
        model(
            "y = sorted([x, x + 1], key=lambda r: r.item())\n        print('late')\n        z = list(map(lambda r: r.item(), y))\n"
            "        print('late')\n        return z, x"
        ),
        ["BRK201", "BRK401", "BRK201", "BRK401"],
    ),
    "a number of classes from a tensor": (
        model(
            "ids = x.argmax(-1)\n        return torch.nn.functional.one_hot(ids, max(ids.max() + 1, 3))"
        ),
        ["BRK208"],
    ),
    "parameters that require grad already": (
        model(
            "self.layer.requires_grad_(True)\n        for p in self.parameters():\n            p.requires_grad_(x.shape[0] > 1)\n"
            "        return self.layer(x), torch.tensor([0.0], requires_grad=self.training)",
            "",
            "self.layer = nn.Linear(4, 4)",
        ),
        ["BRK605"],
    ),
    "what is named or computed as a mask": (
        model(
            "y = x[self.mask_of(x)]\n        mask = self.mask_of(x)\n        y = x[mask], x[:, mask], x[~self.mask_of(x)], x[self.a > self.b]\n"
            "        x[mask] = 0\n        return y, x[self.mask_of], (x, x)[mask]"
        ),
        ["BRK302"] * 4,
    ),
    "a default ends an operand": (
        model(
            "from random import random\n        a = self.off and random() < 0.5\n        b = a and random() < 0.5\n"
            "        c = x.item() if self.on else x.tolist()\n        d = self.on and not self.off and x.max() > 0 and x.item()\n"
            "        if self.off and x.sum() > 0 or self.none and random() < 0.5:\n            x = x + 1\n        return a, b, c, d, x",
            "",
            "self.off, self.on, self.none = size > 4, size == 4, self.size",
        ),
        ["BRK201", "BRK104", "BRK201", "BRK405"],
    ),
    "a number between a draw and another": (
        model(
            "k = torch.ones(1)\n        import random\n        if x.shape[0]:\n            k = random.Random(1).randint(0, 1)\n"
            "        else:\n            k = 3\n        return x + 1 if 2 > k else x"
        ),
        ["BRK410"],
    ),
    "a recurrent module that may be None": (
        model(
            "if self.size == 4:\n            return x\n        assert self.rnn is not None\n        return self.rnn(x)[0]",
            "",
            "self.size, self.rnn = size, nn.LSTM(4, 4) if size else None",
        ),
        ["BRK503"],
    ),
    "a walk over modules meets a recurrent one": (
        model(
            "x = x.to(next(self.parameters()).device)\n        for part in self.children():\n            x = x + 1\n        return x",
            "",
            "self.act, self.rnns, self.out = nn.ReLU(), nn.ModuleList([nn.GRU(4, 4)]), nn.Linear(4, 4)",
        ),
        ["BRK503"],
    ),
    "a walk over modules asks each whether it is recurrent": (
        model(
            "parts = [part for part in self.parts if isinstance(part, nn.LSTM)]\n        return x * len(parts)",
            "",
            "self.parts = nn.ModuleList([nn.Linear(4, 4), nn.LSTM(4, 4)])",
        ),
        ["BRK113", "BRK503"],
    ),
    "partial of one of two functions": (
        model(
            "return self.part(x)",
            "def first(x, n):\n    return x.item()\n\n\ndef second(x, n):\n    return x.tolist()\n\n\n",
            "self.part = functools.partial(first if size > 3 else second, n=1)",
        ),
        ["BRK201", "BRK204"],
    ),
    "a recurrent module or one of the source": (
        model(
            "y = self.part(x)\n        return y",
            SLOW,
            "self.part = Slow() if size > 3 else nn.GRU(4, 4)",
        ),
        ["BRK201", "BRK503"],
    ),
    "a packed sequence is unpacked": (
        model(
            "packed = nn.utils.rnn.pack_padded_sequence(x, [2, 1])\n        data, sizes, _, order = packed\n"
            "        return data * int(sizes[0])"
        ),
        ["BRK504", "BRK202"],
    ),
    "one of several modules is recurrent": (
        model(
            "if self.kind == 'gru':\n            return x\n        return x + len(str(self.part))",
            "",
            "self.kind, self.part = size, nn.GRU(4, 4) if size == 'gru' else nn.Linear(4, 4)",
        ),
        [],
    ),
    "what Python's math is handed item by item": (
        model(
            "import math\n        a = math.prod(n for n in x.shape)\n        b = math.prod(list(x.shape)), math.prod(reversed([1, 2]))\n"
            "        return x * a"
        ),
        ["BRK546"],
    ),
    "functions of math that only multiply": (
        model(
            "import math\n        a = math.prod(x[0]) * math.prod([x.sum(), 2]) * math.radians(x.mean()) * math.prod([2, x.shape[0]])\n"
            "        if math.prod([2, x.shape[0]]) > 3:\n            x = x + 1\n        if math.prod([2, x.sum()]) > 3:\n"
            "            x = x + math.degrees(x.sum())\n        return x * a"
        ),
        ["BRK101", "BRK211"],
    ),
    "a walk that ends at an earlier parameter": (
        model(
            "return x.to(next(self.parameters()).device)",
            "",
            "self.inp, self.rnn = nn.Linear(4, 4), nn.GRU(4, 4)",
        ),
        [],
    ),
    "names of types": (
        model(
            "return self.part(x)",
            "from typing import List, Optional, Union\nMaybe = Optional[torch.Tensor]\n"
            "Nest = Union[torch.Tensor, List['Nest']]\nclass Part(nn.Module):\n"
            "    def forward(self, x, batch: Maybe = None, rest: Nest = None):\n        if batch is not None and batch.any():\n"
            "            x = x + 1\n        return x\n\n\n",
            "self.part = Part()",
        ),
        ["BRK101"],
    ),
    "generic types of tensors and of the source": (
        model(
            "return self.part(x, None, None)",
            "from jaxtyping import Float\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
            "class Box(Generic[T]):\n    def read(self, x):\n        return x.item()\n\n\nclass Part(nn.Module):\n"
            "    def forward(self, x, mask: Float[torch.Tensor, 'b n'] = None, box: Box[int] = None):\n"
            "        if mask is not None and mask.sum():\n            x = x + 1\n"
            "        return x if box is None else box.read(x)\n\n\n",
            "self.part = Part()",
        ),
        ["BRK201", "BRK101"],
    ),
    "an exit stack enters objects of the source": (
        model(
            "import contextlib\n        with contextlib.ExitStack() as stack:\n            stack.enter_context(Own())\n"
            "            stack.enter_context(own())\n            stack.enter_context(torch.no_grad())\n            return x",
            "import contextlib\nclass Own:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *args):\n"
            "        return False\n\n\n@contextlib.contextmanager\ndef own():\n    yield 1\n\n\n",
        ),
        ["BRK509"],
    ),
    "a cast gives its second argument": (
        model(
            "from typing import cast\n        f = cast('F', lambda y: y.item())\n        return f(x), cast(torch.Tensor, self.other(x)).item()"
        ),
        ["BRK201", "BRK201"],
    ),
    "modules that add_module puts into a container": (
        model(
            "if self.size == 1:\n            return self.seq(x)\n        if self.size == 2:\n            return self.rows[0](x)\n"
            "        if self.size == 3:\n            return self.parts['a'](x)\n        return self.parts.b(x)",
            "",
            "self.size, self.seq, self.rows, self.parts = size, nn.Sequential(), nn.ModuleList(), nn.ModuleDict()\n"
            "        self.seq.add_module('rnn', nn.GRU(4, 4))\n        self.rows.add_module('0', nn.RNN(4, 4))\n"
            "        self.parts.add_module('a', nn.LSTM(4, 4))\n        self.parts.add_module('b', nn.Linear(4, 4))",
        ),
        ["BRK503"] * 3,
    ),
    "a module dict has its modules as attributes, too": (
        model(
            "for layer in self.parts.h:\n            x = layer(x)\n        return self.parts.rnn(x)",
            "",
            "self.parts = nn.ModuleDict(dict(h=nn.ModuleList([nn.Linear(4, 4)]), rnn=nn.LSTM(4, 4)))",
        ),
        ["BRK503"],
    ),
    "packages that Dynamo skips": (
        model(
            "if isinstance(x, pd.DataFrame):\n            raise nx.NetworkXError(nx.__version__)\n"
            "        x = x + pd.isna(1.0) + self.graph.number_of_nodes()\n        for i in tqdm(range(3)):\n            x = x * 2\n"
            "        return x",
            "import networkx as nx\nimport pandas as pd\nfrom tqdm.auto import tqdm\n",
            "self.graph = nx.Graph()",
        ),
        ["BRK548"] * 3,
    ),
    "types that index themselves": (
        model(
            "return self.part(x, None, None)",
            "class Meta(type):\n    def __getitem__(cls, item):\n        return item[0]\n\n\n"
            "class Base(metaclass=Meta):\n    pass\n\n\ndef make():\n    class Made(Base):\n        pass\n    return Made\n\n\n"
            "Float = make()\n\n\nclass Sized(torch.Tensor):\n    def __class_getitem__(cls, item):\n        return cls\n\n\n"
            "class Part(nn.Module):\n    def forward(self, x, mask: Float[torch.Tensor, 'b'] = None, more: Sized['b'] = None,\n"
            "                count: Float[int, ''] = 0):\n        if mask is not None and mask.sum():\n            x = x + 1\n"
            "        if more is not None and more.sum():\n            x = x + 1\n        return x if count > 3 else x + 1\n\n\n",
            "self.part = Part()",
        ),
        ["BRK101", "BRK101"],
    ),
    "a class decorator that replaces a method": (
        model("return self.inner(x)", REPLACE + "@fast\n" + SLOW, "self.inner = Slow()"),
        [],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    source, wanted = PROGRAMS[name]
    assert [
        code for code, _ in found(analysed(tmp_path, {"program.py": source}, python=(3, 11)))
    ] == wanted


def test_loops_over_names_inside_of_each_other_end(tmp_path):
    """Followed name by name in the outer ones only: all would be 8 ** 6 turns."""
    body = "".join(f"{'    ' * depth}for n{depth} in {list('abcdefgh')}:\n" for depth in range(6))
    lines = textwrap.indent(
        body + "    " * 6 + "x = x + 1\n" + "if x.sum() > 0:\n    x = x * 2\n", "        "
    )
    source = model("pass").replace(
        "        pass\n\n    def forward(self, x):\n        pass\n",
        f"        pass\n\n    def forward(self, x):\n{lines}        return x\n",
    )
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == ["BRK101"]


CONDITIONS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        if self.config.first:
            x.item()
        else:
            x.item()
        y = x.item() if not self.config.second else self.inner(x)
        if False:
            x.item()
        return self.outer(x)

    def inner(self, x):
        return x.item()

    def outer(self, x):
        return x.item()
"""


def test_a_finding_says_what_configuration_decides_it(tmp_path):
    findings = analysed(tmp_path, {"program.py": CONDITIONS}).findings
    assert [(f.line, f.condition) for f in findings] == [
        (12, "self.config.first"),
        (14, "not self.config.first"),
        (15, "not self.config.second"),
        (21, "self.config.second"),
        (24, ""),
    ]


LAZY = {
    "pkg/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .helper import read\nelse:\n    import sys\n"
    "    sys.modules[__name__] = lazy(__name__)\n",
    "pkg/helper.py": "def read(x):\n    return x.item()\n",
    "pkg/model.py": "from torch import nn\nfrom . import read\nclass Net(nn.Module):\n    def forward(self, x):\n        return read(x)\n",
}


def test_names_of_a_package_that_loads_them_lazily(tmp_path):
    assert [f.path.rpartition("/")[2] for f in analysed(tmp_path, LAZY).findings] == ["helper.py"]


PACKAGE = {
    "pkg/__init__.py": "from . import (\n    helper,\n)\n",
    "pkg/helper.py": LAZY["pkg/helper.py"],
    "pkg/model.py": "from torch import nn\nfrom pkg import helper\nclass Net(nn.Module):\n    def forward(self, x):\n"
    "        return helper.read(x)\n",
}


def test_a_package_that_imports_its_own_module(tmp_path):
    assert [f.path.rpartition("/")[2] for f in analysed(tmp_path, PACKAGE).findings] == [
        "helper.py"
    ]


BASE = """
from torch import nn

class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.extra = None

    def forward(self, x):
        return x if self.extra is None else self.extra(x)

class Whole(nn.Module):
    def __init__(self, parts, finish):
        super().__init__()
        self.parts, self.finish = parts, finish

    def forward(self, x):
        return self.finish(self.parts(x))

class Finish(nn.Module):
    def forward(self, x):
        return x

    def read(self, x):
        return x.item()
"""
SUBCLASS = """
from torch import nn
from .base import Finish, Parts, Whole

class Plain(Whole):
    def __init__(self):
        super().__init__(Parts(), Finish())

class Large(Whole):
    def __init__(self):
        finish = Finish()
        super().__init__(Parts(), finish)
        self.parts.extra = finish.read
"""


def test_what_files_beside_the_named_one_hand_to_inherited_constructors(tmp_path):
    write(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": BASE, "pkg/subclass.py": SUBCLASS})
    (finding,) = analyze([tmp_path / "pkg/base.py"], StaticOptions(torch=TORCH)).findings
    assert (finding.line, finding.chain[-1].function) == (25, "Parts.forward")


WRAPPER = """
import functools
import torch
from torch import nn

def recorded(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        keys = {key: getattr(self, key) for key in self.keys}
        try:
            return function(self, *args, **kwargs)
        finally:
            self.done = True
    return wrapper
""" + "".join(
    f"""
class Net{i}(nn.Module):
    @recorded
    def forward(self, x):
        return x{".item()" if i == 0 else " + 1"}
"""
    for i in range(6)
)


def test_a_break_in_the_last_of_many_wrapped_functions_loses_the_wrapper(tmp_path):
    assert [
        (f.code, f.line)
        for f in analysed(tmp_path, {"program.py": WRAPPER}, python=(3, 11)).findings
        if f.kind == "break" and f.confidence != "possible"
    ] == [("BRK113", 9), ("BRK201", 19)]


DECORATED = (
    HEAD
    + REPLACE
    + "".join(
        f"@fast\nclass Slow{i}(nn.Module):\n    def forward(self, x):\n        return x.item()\n\n\n"
        for i in range(12)
    )
)


def test_a_class_decorator_is_followed_for_every_class(tmp_path):
    files = {
        "deco.py": HEAD + REPLACE,
        "program.py": DECORATED.replace(REPLACE, "from deco import fast\n"),
    }
    assert found(analysed(tmp_path, files)) == []


NAMED = """
from typing import Dict, List, Optional, Tuple, TypeVar, Union
import torch
from torch import nn
from somewhere import backend_of, engine

Array = TypeVar("Array")
Plain = TypeVar("Plain")

def moved(array: Union[Array, List[Array]], pattern: str) -> Array:
    return backend_of(array).moved(array, pattern)

def packed(arrays: List[Array], pattern: str) -> Tuple[Array, List[int]]:
    kept = [backend_of(arrays[0]).flat(part) for part in arrays]
    return backend_of(arrays[0]).joined(kept), [1, 2]

def joined(*arrays_and_pattern: Union[Array, str]) -> Array:
    return engine.run(arrays_and_pattern)

def described(array: Array, other: Plain) -> Plain:
    return engine.describe(array, other)

def split(x) -> List[torch.Tensor]:
    return engine.split(x)

def maybe(x) -> Optional[torch.Tensor]:
    return engine.run(x) if engine.ready else None

def layer(x) -> Tuple[torch.Tensor]:
    return engine.layer(x)

def counted(x: torch.Tensor) -> int:
    return engine.count(x)

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        found = []
        {body}
        return found
"""


@pytest.mark.parametrize(
    "body, breaks",
    {
        "if moved(x, 'a b').max() > 0: pass": True,
        "if moved([x, x], 'a b').max() > 0: pass": True,
        "if packed([x, x], 'a b')[0].max() > 0: pass": True,
        "if joined(x, x, 'a b') > 0: pass": True,
        "if split(x)[0] > 0: pass": True,
        "y = maybe(x)\n        if y is not None and y > 0: pass": True,
        "if packed([x, x], 'a b')[1][0] > 0: pass": False,
        "if moved(3, 'a b') > 0: pass": False,
        "if described(x, 3) > 0: pass": False,
        "if counted(x) > 0: pass": False,
        "if layer(x)[1][0] > 0: pass": False,
        "y = maybe(x)\n        if y is None: pass": False,
    }.items(),
)
def test_a_result_that_the_body_does_not_tell_is_what_its_annotation_says(body, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": NAMED.replace("{body}", body)})
    assert [code for code, _ in found(result)] == (["BRK101"] if breaks else [])


def test_a_tensor_as_index_hardly_means_the_list_beside_a_tensor(tmp_path):
    body = "rows = [x, x] if len(self.pairs()) else x\n        return rows[x.argmax(0)]"
    source = model(body).replace(
        "    def forward", "    def pairs(self):\n        return elsewhere()\n\n    def forward", 1
    )
    result = analysed(tmp_path, {"program.py": source})
    assert [(f.code, f.confidence) for f in result.findings] == [("BRK205", "possible")]


def test_what_a_package_has_is_not_hidden_by_what_its_parts_import_from_it(tmp_path):
    files = {
        "library/__init__.py": "from .scale import Scale\nfrom .functions import *\n",
        "library/scale.py": (
            "import torch\n\n\nclass Scale:\n    def number(self, x):\n        return x.mean().item()\n"
        ),
        "library/functions.py": "from . import Scale\n\n\ndef twice(x):\n    return 2 * x\n",
        "library/model.py": (
            "import torch\n\nfrom . import Scale\n\n\nclass Model(torch.nn.Module):\n"
            "    def forward(self, x, scale: Scale):\n        return scale.number(x)\n"
        ),
    }
    assert found(analysed(tmp_path, files)) == [("BRK201", 6)]


def test_what_a_loop_does_depends_on_its_test(tmp_path):
    source = model(
        "while x.dim() > 1:\n            print(x.shape)\n            x = x[0]\n        return x"
    )
    result = analysed(tmp_path, {"net.py": source})
    assert [(f.code, f.condition) for f in result.findings] == [("BRK401", "x.dim() > 1")]


def test_what_a_tuple_stands_in_for_is_no_tensor(tmp_path):
    source = (
        "import torch\nfrom torch import Tensor, nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x, state: Tensor | tuple[Tensor, Tensor] | None = None, bias: Tensor | None = None):\n"
        "        h, c = state or (None, None)\n        b = bias or torch.zeros(3)\n"
        "        return x + b if h is None else x + h\n"
    )
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK104", 8)]


CLOSURE = """
import torch


def make(most=100):
    state, history, seen = {"n": 0}, [], {}

    @torch.compile
    def step(x):
        state["n"] = (state["n"] + 1) % 4
        history.append(x)
        if len(history) > 3:
            history.pop(0)
        seen[x.shape[0]] = x
        mine, count = [], {"n": 0}

        def inner(y):
            mine.append(y)
            count["n"] += 1
            return y * count["n"]

        return inner(x)

    return step


step = make()
"""


def test_containers_of_a_closure(tmp_path):
    result = analysed(tmp_path, {"net.py": CLOSURE})
    assert found(result) == [("BRK701", 10), ("BRK703", 11), ("BRK704", 14)]
    assert [
        f.code for f in analysed(tmp_path, {"net.py": CLOSURE.replace("> 3", "> 30")}).findings
    ] == [
        "BRK701",
        "BRK703",
        "BRK704",
    ]


SWITCHED = """
import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.is_scaled = False
        self.is_plain = True
        self.is_inside = False
        self.grid = torch.zeros(1)
        self.kept = None
        self.channels = 1
        self.count = 1
        self.longest = 1

    def scale(self, x):
        self.is_scaled = True
        return x * 2

    def within(self, x):
        self.is_inside = True
        x = self(x)
        self.is_inside = False
        return x

    def forward(self, x):
        if not self.is_scaled:
            log.warning("call `scale` first")
        if not self.is_plain or self.is_inside:
            x = x * x.sum().item()
        if self.kept is None:
            self.kept = [x]
        elif self.kept[0].device != x.device:
            self.kept = [k.to(x.device) for k in self.kept]
        if self.grid.shape != x.shape:
            self.grid = torch.arange(8.0).view(2, 4)
        if self.channels != x.size(1):
            self.channels = x.size(1)
        self.count = x.size(0)
        return x + self.grid * self.channels * self.count * self.longest
"""


def test_attributes_that_others_switch_or_the_first_call_fills(tmp_path):
    result = analysed(tmp_path, {"net.py": SWITCHED})
    assert found(result) == [("BRK402", 34), ("BRK707", 38), ("BRK707", 42), ("BRK707", 44)]
    assert found(result, ("possible",)) == []
    conditions = {f.condition for f in result.findings if f.code == "BRK402"}
    assert conditions == {"not self.is_scaled"}


def test_list_by_default_that_is_handed_on_is_the_callers(tmp_path):
    head = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
    head += "    def forward(self, x, at=[0]):\n        at[0] += 1\n"
    assert found(analysed(tmp_path, {"net.py": head + "        return x * at[0]\n"})) == [
        ("BRK701", 7)
    ]
    on = "        return self.inner(x, at)\n"
    assert found(analysed(tmp_path, {"net.py": head + on})) == []


ADDED = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.scale


class Stack(nn.ModuleDict):
    def append(self, layer, **given):
        if given:
            layer = layer(**given)
        self.add_module(str(len(self)), layer)

    def forward(self, x):
        for layer in self.values():
            x = layer(x)
        return x


class Net(Stack):
    def __init__(self, size):
        super().__init__()
        self.append(Block, size=size)
        self.append(Block)
"""


def test_a_class_is_no_module_that_is_added(tmp_path):
    assert found(analysed(tmp_path, {"net.py": ADDED})) == []


BUILDING = """
from abc import abstractmethod

import torch
from torch import nn


class Base(nn.Module):
    @abstractmethod
    def update_layer(self, name, size): ...

    @abstractmethod
    def convert(self, size): ...

    @abstractmethod
    def delta(self, x): ...


class Layer(Base):
    def __init__(self):
        super().__init__()
        self.rank, self.weight = {}, nn.ParameterDict()

    def make(self, name, size):
        self.weight[name] = nn.Parameter(torch.ones(size))

    def update_layer(self, name, size):
        self.rank[name] = size
        self.make(name, size)

    def convert(self, size):
        print("converting")
        self.inner = nn.Sequential(nn.Linear(4, 4))

    def delta(self, x):
        return nn.L1Loss()(x * x.sum().item(), x)
"""


def test_a_method_that_makes_layers_is_called_before(tmp_path):
    assert seen(analysed(tmp_path, {"layer.py": BUILDING})) == [("BRK201", 36)]


LATE = """
import torch


@torch.compile
def sample(x, energy):
    for _ in range(3):
        x = (x * 1).requires_grad_()
        x = x - torch.autograd.grad(energy(x).sum(), x)[0]
    return x.detach()


@torch.compile
def marked(x):
    for _ in range(3):
        x = (x * 1).requires_grad_()
    return x


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.detach().requires_grad_()


@torch.compile
def twice(x):
    return Twice.apply(x)
"""


def test_a_mark_ends_a_graph_that_it_leaves(tmp_path):
    assert found(analysed(tmp_path, {"loops.py": LATE})) == [("BRK602", 9), ("BRK605", 16)]


HOOKED = """
import torch
from torch import nn


class Means(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        for name, layer in self.net.named_modules():
            if isinstance(layer, KIND):
                layer.register_forward_hook(self.hook(name))

    def hook(self, name):
        def run(layer, given, out):
            print(name, out.mean())

        return run

    def forward(self, x):
        return self.net(x)


def make():
    return Means(), (torch.ones(2, 3),), {}
"""


@pytest.mark.parametrize(("kind", "breaks"), [("nn.Linear", [("BRK401", 16)]), ("nn.LSTM", [])])
def test_hooks_of_the_modules_in_a_sequential(tmp_path, kind, breaks):
    result = analysed(tmp_path, {"net.py": HOOKED.replace("KIND", kind)}, "net.py::make")
    assert found(result) == breaks
