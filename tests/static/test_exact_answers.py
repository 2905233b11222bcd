"""A check of several files is the union of the checks of each: place by place and field by field,
in any order, and for any part of them."""

from __future__ import annotations

import importlib.util
import itertools
import random
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import TORCH, write

from breakscope.report.model import Finding
from breakscope.static import StaticOptions, analyze
from breakscope.static.answer import union
from breakscope.static.project.files import python_files

ROOT = Path(__file__).resolve().parents[2]


def check(files: list[str], entries: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    return analyze(files, StaticOptions(torch=TORCH, entries=entries)).findings


def shown(findings: tuple[Finding, ...]) -> list[str]:
    return [msgspec.json.encode(finding).decode() for finding in findings]


def assert_exact(
    paths: list[str | Path], seed: int, *, entries: tuple[str, ...] = (), most: int = 0
) -> int:
    """Compare the check of all files (of `most` ones, chosen at random) with those of parts of
    them; returns how many findings there are."""
    chance = random.Random(seed)
    files = list(python_files(paths))
    if most and len(files) > most:
        files = sorted(chance.sample(files, most))
    whole = shown(check(files, entries))
    singles = {file: check([file], entries) for file in files}
    assert shown(union(singles.values())) == whole, "file by file"
    shuffled = chance.sample(files, len(files))
    assert shown(check(shuffled, entries)) == whole, f"in the order {shuffled}"
    part = chance.sample(files, chance.randint(1, len(files)))
    expected = shown(union(singles[file] for file in part))
    assert shown(check(part, entries)) == expected, f"the part {part}"
    return len(whole)


def test_samples():
    assert assert_exact([ROOT / "samples"], 1)


def test_tests_own_programs():
    targets = ROOT / "tests" / "dynamic" / "targets"
    assert assert_exact([targets, ROOT / "tests" / "static"], 2, most=30)


def test_rules_examples():
    """Their files share helpers and define functions of the same names."""
    assert assert_exact([ROOT / "rules"], 3, entries=("*::bad*", "*::good*"), most=40)


@pytest.mark.parametrize(
    ("package", "folders", "most"),
    [
        ("transformers", ["models/bert", "models/llama"], 0),
        ("torch", ["nn/modules", "nn/utils"], 30),
    ],
)
def test_libraries(package, folders, most):
    top = Path(importlib.util.find_spec(package).origin).parent
    assert assert_exact([top / folder for folder in folders], 4, most=most)


def test_star_import_in_a_circle(tmp_path):
    """What `*` takes from a module that is still running depends on who asked first."""
    write(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/kinds.py": "KINDS = {}\n",
            "pkg/registry.py": "from pkg.model import *\n",
            "pkg/model.py": """\
                import torch
                from pkg import kinds, registry

                KINDS = kinds.KINDS

                def register(name):
                    def note(function):
                        KINDS[name] = function
                    return note

                @registry.register("a")
                def read(x):
                    return x.tolist()

                class Model(torch.nn.Module):
                    def forward(self, x):
                        return kinds.KINDS["a"](x)
                """,
            "pkg/other.py": """\
                import torch
                from pkg import model

                class Other(torch.nn.Module):
                    def forward(self, x):
                        if model.KINDS:
                            print(x)
                """,
        },
    )
    files = list(python_files([tmp_path]))
    singles = union(check([file]) for file in files)
    assert singles
    for order in itertools.permutations(files):
        assert shown(check(list(order))) == shown(singles)


def test_global_that_changes_in_a_circle(tmp_path):
    """What a file changes in a module holds for it until its end, however often the modules of the
    circle are run again for one another."""
    write(
        tmp_path,
        {
            "pkg/m0.py": """\
                from pkg.m1 import *
                class Model0(m3.Base):
                    def forward(self, x):
                        m3.switch()
                m1.switch()
                """,
            "pkg/m1.py": """\
                import pkg.m0 as m0
                import pkg.m3 as m3
                def switch():
                    global FLAG, CONFIG
                    FLAG = not FLAG
                import pkg.m1 as m1
                try:
                    from .nowhere import FLAG
                except ImportError:
                    FLAG = m0.FLAG
                m3.Holder.flag = True
                """,
            "pkg/m2.py": """\
                import torch
                class Base(nn.Module):
                    kind = None
                import pkg.m0 as m0
                from pkg.m0 import CONFIG, FLAG
                from pkg.m3 import *
                m0.switch()
                """,
            "pkg/m3.py": """\
                from pkg.m0 import *
                import pkg.m2 as m2
                helper.mark = m2.FLAG
                m1.Holder.flag = True
                """,
            "pkg/__init__.py": "",
        },
    )
    files = list(python_files([tmp_path]))
    singles = shown(union(check([file]) for file in files))
    assert shown(check(files)) == singles
    assert shown(check(files[::-1])) == singles


# What every generated module has, so that others may refer to it
COMMON = """
REGISTRY = {}
ITEMS = []
FLAG = False

def switch():
    global FLAG, CONFIG
    FLAG = not FLAG
    CONFIG = Config(len(ITEMS))

class Holder:
    kinds = {}
    flag = False

class Config:
    def __init__(self, size=1):
        self.size = size
        self.flag = False
        self.extra = {}

CONFIG = Config()

def helper(x):
    return x * 2

def read(x):
    return x.item()

def register(name):
    def note(function):
        REGISTRY[name] = function
        ITEMS.append(name)
        return function
    return note

def reading(function):
    def inner(x):
        return function(x) + x.sum().item()
    return inner

def make_counter():
    seen = []
    def count(x):
        seen.append(x)
        if len(seen) > 2:
            print(x)
        return x
    return count

COUNTER = make_counter()

class Base(nn.Module):
    kind = None
    scale = 1

    def __init__(self, act=helper):
        super().__init__()
        self.act = act
        self.config = CONFIG

    def step(self, x):
        return self.act(x)

    def forward(self, x):
        return self.step(x)
"""

# Statements at module level; {m} is another module or the own one
LEVEL = (
    '{m}.REGISTRY["a"] = {m}.read',
    '{m}.REGISTRY["b"] = helper',
    "{m}.REGISTRY.clear()",
    '{m}.REGISTRY.pop("a", None)',
    "{m}.ITEMS.append(len({m}.ITEMS))",
    "{m}.ITEMS.extend([1, 2])",
    "{m}.ITEMS.clear()",
    "{m}.FLAG = True",
    "{m}.switch()",
    "{m}.FLAG = not {m}.FLAG",
    '{m}.Holder.kinds["a"] = read',
    "{m}.Holder.flag = True",
    "{m}.CONFIG.flag = True",
    "{m}.CONFIG.size = len({m}.ITEMS)",
    "{m}.CONFIG = Config(3)",
    "CONFIG = {m}.CONFIG",
    "CONFIG.extra[__name__] = read",
    '@{m}.register("a")\ndef registered_{i}(x):\n    return x.tolist()',
    '@{m}.register("b")\ndef other_{i}(x):\n    return x + 1',
    "@{m}.reading\ndef helper(x):\n    return x - 1",
    "@{m}.reading\n@{m}.register('a')\ndef read(x):\n    return x - 1",
    "FLAG = len({m}.ITEMS) > 0",
    "FLAG = 'a' in {m}.REGISTRY",
    "ITEMS = [*{m}.ITEMS, 3]",
    "ITEMS = {m}.ITEMS",
    "REGISTRY = {m}.REGISTRY",
    "REGISTRY = {**{m}.REGISTRY}",
    "COUNTER = {m}.COUNTER",
    "{m}.COUNTER(1)",
    "{m}.COUNTER(1); {m}.COUNTER(1)",
    "{m}.helper = read",
    "helper = {m}.helper",
    "helper.mark = {m}.FLAG",
    "{m}.Base.scale = 2",
    "{m}.Base.kind = read",
    "{m}.Base.step = lambda self, x: x.item()",
    "Base.step = {m}.Base.step",
    "class Base({m}.Base):\n    def step(self, x):\n        return super().step(x) + 1",
    "class Base({m}.Base):\n    def __init__(self):\n        super().__init__({m}.read)",
    "class Sub_{i}({m}.Base):\n    kind = read\n    def step(self, x):\n        return self.kind(x)",
    "class Config({m}.Config):\n    flag = {m}.FLAG\nCONFIG = Config()",
    "if {m}.FLAG:\n    def helper(x):\n        return x.item()",
    "for name in {m}.ITEMS:\n    REGISTRY[name] = read",
    "try:\n    from .nowhere import FLAG\nexcept ImportError:\n    FLAG = {m}.FLAG",
    "MADE_{i} = {m}.Base(read)",
    "{m}.Base.made = {m}.Base({m}.helper)",
    "setattr({m}, 'FLAG', 1)",
)

# Statements of compiled code: what it reads of the modules, and what it changes of them
COMPILED = (
    "if {m}.FLAG:\n    x.item()",
    "if not {m}.FLAG:\n    x.tolist()",
    "{m}.FLAG = True",
    "{m}.switch()",
    "if len({m}.ITEMS) > 1:\n    print(x)",
    "for item in {m}.ITEMS:\n    x = x + 1\n    print(item)",
    "{m}.ITEMS.append(x)",
    "{m}.ITEMS.clear()",
    'x = {m}.REGISTRY["a"](x)',
    'x = {m}.REGISTRY.get("b", read)(x)',
    '{m}.REGISTRY["a"] = {m}.read',
    "for name, function in {m}.REGISTRY.items():\n    function(x)",
    'if "a" in {m}.Holder.kinds:\n    {m}.Holder.kinds["a"](x)',
    '{m}.Holder.kinds["a"] = {m}.read',
    "if {m}.Holder.flag:\n    x.item()",
    "{m}.Holder.flag = not {m}.Holder.flag",
    "if {m}.CONFIG.flag:\n    x.item()",
    "{m}.CONFIG.flag = not {m}.CONFIG.flag",
    "if {m}.CONFIG.size > 1:\n    print(x)",
    "for function in {m}.CONFIG.extra.values():\n    x = function(x)",
    "{m}.CONFIG.extra['b'] = read",
    "x = {m}.helper(x)",
    "x = {m}.COUNTER(x)",
    "x = {m}.make_counter()(x)",
    "x = {m}.reading({m}.helper)(x)",
    "x = {m}.Base.step(self, x)",
    "x = self.step(x)",
    "x = self.part(x)",
    "x = self.part.act(x)",
    "self.part.act = {m}.read",
    "self.config.flag = True",
    "if self.config.flag:\n    print(x)",
    "if self.kind is not None:\n    print(x)",
    "if {m}.Base.scale > 1:\n    x.item()",
    "{m}.Base.scale = 2",
    "if getattr({m}.helper, 'mark', False):\n    x.item()",
    "{m}.helper.mark = True",
    "{m}.helper = {m}.read",
    "from {n} import read as other\nx = other(x)",
)

# What a tree is about: statements that have nothing to do with each other show nothing
TOPICS = (
    "REGISTRY",
    "ITEMS",
    ("FLAG", "switch"),
    "Holder",
    ("CONFIG", "config", "switch"),
    "COUNTER",
    ("Base", "step", "kind"),
    ("part", "Base"),
    ("helper", "read("),
)

IMPORTS = (
    "import {n} as {m}",
    "from {p} import {m}",
    "from {n} import *\nimport {n} as {m}",
    "import {n} as {m}\nfrom {n} import REGISTRY, ITEMS",
    "import {n} as {m}\nfrom {n} import CONFIG, FLAG",
    "try:\n    import {n} as {m}\nexcept ImportError:\n    {m} = None",
)
LAYOUTS = (  # folders of the modules, in turn
    ("pkg",),
    ("pkg", "pkg/sub"),
    ("",),
    ("pkg", "other"),
)


def fill(text: str, module: str, folder: str, own: int) -> str:
    package = folder.replace("/", ".")
    name = f"{package}.{module}" if package else module
    text = text.replace("from {p} import {m}", "from {p} import {m}" if package else "import {m}")
    for key, value in {"{m}": module, "{n}": name, "{p}": package, "{i}": str(own)}.items():
        text = text.replace(key, value)
    return text


def indented(text: str, width: int) -> str:
    return "\n".join(" " * width + line for line in text.split("\n"))


@st.composite
def trees(draw) -> dict[str, str]:
    """Files of a small project whose modules refer to each other, in circles too."""
    count = draw(st.integers(2, 4))
    layout = draw(st.sampled_from(LAYOUTS))
    folders = [layout[number % len(layout)] for number in range(count)]
    has_circles = draw(st.booleans())
    words = {
        word
        for topic in draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=2))
        for word in ((topic,) if isinstance(topic, str) else topic)
    }

    def known_to(own: int) -> st.SearchStrategy[int]:
        """The modules that one may refer to."""
        return st.integers(0, count - 1 if has_circles else max(own - 1, 0))

    def filled(texts: tuple[str, ...], least: int, most: int, own: int) -> list[str]:
        choices = [text for text in texts if any(word in text for word in words)]
        others = known_to(own)
        picked = draw(
            st.lists(st.tuples(st.sampled_from(choices), others), min_size=least, max_size=most)
        )
        return [fill(text, f"m{to}", folders[to], own) for text, to in picked]

    files = {}
    for own in range(count):
        imports = [
            fill(draw(st.sampled_from(IMPORTS)), f"m{to}", folders[to], own)
            for to in range(count if has_circles else own)
            if to != own
        ]
        is_late = draw(st.booleans())  # imports behind the definitions close circles that work
        body = "\n".join(indented(text, 8) for text in filled(COMPILED, 2, 6, own))
        base = f"m{draw(known_to(own))}.Base"
        part = f"m{draw(known_to(own))}.Base()"
        parts = [
            "import sys\nimport torch\nfrom torch import nn",
            *([] if is_late else imports),
            COMMON,
            *(imports if is_late else []),
            f"m{own} = sys.modules[__name__]"
            if draw(st.booleans())
            else fill("import {n} as {m}", f"m{own}", folders[own], own),
            *filled(LEVEL, 1, 5, own),
            f"class Model{own}({base}):\n"
            "    def __init__(self):\n        super().__init__()\n"
            f"        self.part = {part}\n"
            f"    def forward(self, x):\n{body}\n        return x",
            *filled(LEVEL, 0, 2, own),
        ]
        folder = folders[own]
        files[f"{folder}/m{own}.py" if folder else f"m{own}.py"] = "\n".join(parts) + "\n"
    for folder in {folder for folder in folders if folder}:
        shows = draw(st.sampled_from(("", "from {p} import {m}", "from {n} import *")))
        first = folders.index(folder)
        files[f"{folder}/__init__.py"] = fill(shows, f"m{first}", folder, 0)
    return files


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(files=trees(), seed=st.integers(0, 1000))
def test_generated_trees(files, seed):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        assert_exact([folder], seed)
