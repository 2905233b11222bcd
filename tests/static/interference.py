"""Random projects whose files really interfere: what one does when it is imported, or when its
models are made, decides whether another one breaks.

A project is about one or two kinds of state. Every module defines it, and its statements are about
that state of any module: they change it, derive something from it, and read it in compiled code.
"""

from __future__ import annotations

import random
from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of state; {m} is a module that has it, {i} the number of the one that uses it.

    `definition` stands in each module; `changes` are statements outside of compiled code; `uses`
    are statements of compiled code that break or not; `tests` are expressions of functions that
    follow from the state.
    """

    definition: str
    changes: tuple[str, ...]
    uses: tuple[str, ...]
    tests: tuple[str, ...]


KINDS = {
    "list": Kind(
        "ITEMS = []\ndef add(item):\n    ITEMS.append(item)",
        ("{m}.ITEMS.append(read)", "{m}.add(read)", "{m}.ITEMS.extend([double, read])"),
        ("for function in {m}.ITEMS:\n    x = function(x)", "x = {m}.ITEMS[0](x)"),
        ("[*{m}.ITEMS]", "list({m}.ITEMS)"),
    ),
    "registry": Kind(
        "REGISTRY = {}\n"
        "def register(name):\n"
        "    def note(function):\n        REGISTRY[name] = function\n        return function\n"
        "    return note",
        (
            '{m}.REGISTRY["a"] = read',
            '@{m}.register("a")\ndef found_{i}(x):\n    return x.tolist()',
            '{m}.REGISTRY["a"] = double',
            '{m}.REGISTRY.pop("a", None)',
            "{m}.REGISTRY.clear()",
        ),
        (
            'if "a" in {m}.REGISTRY:\n    x = {m}.REGISTRY["a"](x)',
            "for function in {m}.REGISTRY.values():\n    x = function(x)",
        ),
        ("[*{m}.REGISTRY.values()]", '[{m}.REGISTRY.get("a", double)]'),
    ),
    "global": Kind(
        "FLAG = False\ndef switch():\n    global FLAG\n    FLAG = not FLAG\n"
        "def enable():\n    global FLAG\n    FLAG = True\n"
        "def by_flag(x):\n    if FLAG:\n        print(x)\n    return x",
        ("{m}.switch()", "{m}.enable()"),
        ("if {m}.FLAG:\n    x.item()", "if not {m}.FLAG:\n    x.tolist()", "x = {m}.by_flag(x)"),
        ("[read if {m}.FLAG else double]", "[double if {m}.FLAG else read]"),
    ),
    "counter": Kind(
        "COUNT = 0\ndef count():\n    global COUNT\n    COUNT += 1\n    return COUNT",
        ("{m}.count()", "{m}.count(); {m}.count()"),
        ("if {m}.COUNT > 0:\n    x.item()", "if {m}.COUNT == 1:\n    x.tolist()"),
        ("[read if {m}.COUNT > 0 else double]",),
    ),
    "instance": Kind(
        "class Config:\n    def __init__(self):\n        self.flag = False\n        self.parts = {}\n"
        "    def enable(self):\n        self.flag = True\n"
        "CONFIG = Config()",
        (
            "{m}.CONFIG.flag = True",
            "{m}.CONFIG.enable()",
            '{m}.CONFIG.parts["a"] = read',
            'setattr({m}.CONFIG, "flag", True)',
        ),
        (
            "if {m}.CONFIG.flag:\n    x.item()",
            "for function in {m}.CONFIG.parts.values():\n    x = function(x)",
        ),
        ("[read if {m}.CONFIG.flag else double]", "[*{m}.CONFIG.parts.values()]"),
    ),
    "class": Kind(
        "class Holder:\n    flag = False\n    kinds = {}\n    step = None\n"
        "    @classmethod\n    def enable(cls):\n        cls.flag = True",
        (
            "{m}.Holder.flag = True",
            "{m}.Holder.enable()",
            '{m}.Holder.kinds["a"] = read',
            "{m}.Holder.step = read",
        ),
        (
            "if {m}.Holder.flag:\n    x.item()",
            "for function in {m}.Holder.kinds.values():\n    x = function(x)",
            "if {m}.Holder.step is not None:\n    x.tolist()",
        ),
        ("[read if {m}.Holder.flag else double]", "[{m}.Holder.step or double]"),
    ),
    "method": Kind(
        "class Layer(nn.Module):\n    def step(self, x):\n        return x + 1\n"
        "    def forward(self, x):\n        return self.step(x)\n"
        "LAYER = Layer()",
        (
            "{m}.Layer.step = lambda self, x: x.item()",
            "{m}.LAYER.step = read",
            "{m}.LAYER.register_forward_hook(hook)",
        ),
        ("x = {m}.LAYER(x)", "x = {m}.Layer()(x)"),
        ("[{m}.LAYER.step]", "[{m}.LAYER]"),
    ),
    "default": Kind(
        "def collect(item, seen=[]):\n    seen.append(item)\n    return seen\n"
        "def gather(x, found=collect(double)):\n"
        "    for function in found:\n        x = function(x)\n    return x",
        ("{m}.collect(read)", "{m}.collect(double); {m}.collect(read)"),
        ("x = {m}.gather(x)",),
        ("[*{m}.collect(double)]", "[{m}.gather]"),
    ),
    "closure": Kind(
        "def make_counter():\n    seen = 0\n    def count():\n        nonlocal seen\n"
        "        seen += 1\n        return seen\n"
        "    def read(x):\n        if seen > 0:\n            print(x)\n        return x\n"
        "    return count, read\n"
        "tick, shown = make_counter()",
        ("{m}.tick()",),
        ("x = {m}.shown(x)",),
        ("[{m}.shown]",),
    ),
    "mark": Kind(
        "def half(x, other=None):\n    if other is not None:\n        other.item()\n    return x\n"
        "class Bound:\n    half = half\nBOUND = Bound()",
        ("class Static_{i}:\n    half = staticmethod({m}.half)\nStatic_{i}.half(1)",),
        ("{m}.BOUND.half(x)",),
        ("[{m}.BOUND.half]",),
    ),
    "late default": Kind(
        "MODE = False\ndef set_mode():\n    global MODE\n    MODE = True\n"
        "class Steps:\n    def take(self, x, mode=MODE):\n"
        "        if mode:\n            print(x)\n        return x\n"
        "STEPS = [Steps().take]",
        ("{m}.set_mode()", "{m}.set_mode(); {m}.STEPS[0](1)"),
        ("x = {m}.STEPS[0](x)",),
        ("[read if {m}.MODE else double]", "[{m}.STEPS[0]]"),
    ),
    "partial": Kind(
        "def show(x, parts=()):\n    if x is None:\n        return parts\n"
        "    for part in parts:\n        x = part(x)\n    return x\n"
        "shower = functools.partial(show, parts=[double])",
        ("{m}.shower(None).append(read)",),
        ("x = {m}.shower(x)",),
        ("[*{m}.shower(None)]", "[{m}.shower]"),
    ),
    "place": Kind(
        'TABLE = {"a": {"b": []}}',
        ('PART_{i} = {m}.TABLE["a"]', 'PART_{i} = {m}.TABLE["a"]; PART_{i}["b"].append(read)'),
        (
            '{m}.TABLE["a"]["b"].append(x)',
            'for function in {m}.TABLE["a"]["b"]:\n    x = function(x)',
        ),
        ('[*{m}.TABLE["a"]["b"]]',),
    ),
    "argument": Kind(
        "def apply(x, mode):\n    if mode == 'read':\n        x.item()\n    return x\n"
        "def build(act=double, size=1):\n    return Model_of(act, size)\n"
        "class Model_of(nn.Module):\n    def __init__(self, act, size):\n        super().__init__()\n"
        "        self.act = act\n        self.size = size\n"
        "    def forward(self, x):\n"
        "        if self.size > 2:\n            print(x)\n        return self.act(x)",
        ("MADE_{i} = {m}.build(read)", "MADE_{i} = {m}.build(size=3)"),
        (
            "x = {m}.apply(x, 'read')",
            "for mode in ('a', 'b', 'c', 'd', 'e', 'f'):\n    x = {m}.apply(x, mode)",
            "x = {m}.apply({m}.apply({m}.apply(x, 'a'), 'b'), 'c')",
            "x = {m}.apply(x, 'd')\nx = {m}.apply(x, 'e')\nx = {m}.apply(x, 'f')",
            "x = {m}.apply(x + 1, 1)\nx = {m}.apply(x.int(), 2)\nx = {m}.apply(x[0], 3)",
        ),
        ("[{m}.build(read)]", "[{m}.build(size=3)]"),
    ),
    "constructor": Kind(
        "class Mixin:\n    act = read\n    def step(self, x):\n        return self.act(x)\n"
        "class Base(nn.Module):\n"
        "    def __init__(self, act=double, size=1):\n        super().__init__()\n"
        "        self.act = act\n        self.size = size\n"
        "    def step(self, x):\n        return x\n"
        "    def forward(self, x):\n        if self.size > 2:\n            print(x)\n"
        "        return self.act(self.step(x))",
        (
            "class Sub_{i}({m}.Base):\n    def __init__(self):\n        super().__init__(read)",
            "class Sub_{i}({m}.Base):\n    def __init__(self):\n        super().__init__(size=3)",
            "class Mixed_{i}({m}.Mixin, {m}.Base):\n    pass",
            "class Base({m}.Base):\n    def step(self, x):\n        return super().step(x) + 1",
        ),
        ("x = {m}.Base(read)(x)", "x = {m}.Base(size=4)(x)", "x = {m}.Base()(x)"),
        ("[{m}.Base(read)]", "[{m}.Base()]"),
    ),
}

HEAD = """\
import functools
import sys
import torch
from torch import nn
def double(x):
    return x * 2
def read(x):
    return x.item()
def hook(module, args, result):
    return result.item()
GOT = [double]
"""
IMPORTS = (
    "import {n} as {m}",
    "import {n} as {m}",
    "from {p} import {m}",
    "from {n} import *\nimport {n} as {m}",
    "import {n} as {m}\nfrom {n} import {names}",
    "try:\n    import {n} as {m}\nexcept ImportError:\n    {m} = None",
)
LAYOUTS = (("",), ("pkg",), ("pkg", "pkg/sub"), ("pkg", "other"))  # folders of the modules, in turn


def project(chance: random.Random) -> dict[str, str]:
    """The files of a project, by path."""
    count = chance.randint(2, 4)
    layout = chance.choice(LAYOUTS)
    folders = [layout[number % len(layout)] for number in range(count)]
    kinds = [KINDS[name] for name in chance.sample(sorted(KINDS), chance.choice((1, 1, 2)))]
    has_circles = chance.random() < 0.6
    files = {}
    for own, folder in enumerate(folders):
        files[f"{folder}/m{own}.py".lstrip("/")] = _module(chance, own, folders, kinds, has_circles)
    for folder in {*folders} - {""}:
        shows = chance.choice(("", "", "from {p} import {m}", "from {n} import *"))
        files[f"{folder}/__init__.py"] = _filled(shows, folders.index(folder), folders, kinds, 0)
    return files


def _module(
    chance: random.Random, own: int, folders: list[str], kinds: list[Kind], has_circles: bool
) -> str:
    known = [to for to in range(len(folders) if has_circles else own) if to != own]

    def filled(text: str, to: int) -> str:
        return _filled(text, to, folders, kinds, own)

    def some(texts: list[str], least: int, most: int) -> list[str]:
        chosen = chance.choices(texts, k=chance.randint(least, most))
        return [filled(text, chance.choice([*known, *known, own])) for text in chosen]

    derived = [f"GOT = {test}" for kind in kinds for test in kind.tests]
    changes = [change for kind in kinds for change in kind.changes]
    uses = [use for kind in kinds for use in kind.uses]
    uses += ["for function in {m}.GOT:\n    x = function(x)"] * max(1, len(uses) // 2)
    level = [*changes, *derived] if len(derived) > len(changes) else [*changes, *derived, *derived]
    imports = [filled(chance.choice(IMPORTS), to) for to in known]
    chance.shuffle(imports)
    is_late = chance.random() < 0.5  # behind the definitions they close circles that work
    parts = [
        HEAD,
        *([] if is_late else imports),
        *(kind.definition for kind in kinds),
        *(imports if is_late else []),
        f"m{own} = sys.modules[__name__]" if not known else filled("import {n} as {m}", own),
        *some(level, 0, 3),
        f"class Model{own}(nn.Module):\n    def __init__(self):\n        super().__init__()",
        *(_indented(text, 8) for text in some(changes, 0, 1)),
        "    def forward(self, x):",
        *(_indented(text, 8) for text in some(uses, 1, 3)),
        "        return x",
        *some(level, 0, 2),
    ]
    return "\n".join(parts) + "\n"


def _filled(text: str, to: int, folders: list[str], kinds: list[Kind], own: int) -> str:
    package = folders[to].replace("/", ".")
    if not package:
        text = text.replace("from {p} import {m}", "import {m}")
    names = [
        line.partition(" = ")[0]
        for kind in kinds
        for line in kind.definition.split("\n")
        if " = " in line and line[0].isupper() and "," not in line
    ]
    filled = {
        "{m}": f"m{to}",
        "{n}": f"{package}.m{to}".lstrip("."),
        "{p}": package,
        "{i}": str(own),
        "{names}": ", ".join(["GOT", *names]),
    }
    for key, value in filled.items():
        text = text.replace(key, value)
    return text


def _indented(text: str, width: int) -> str:
    return "\n".join(" " * width + line for line in text.split("\n"))
