"""Classes of the checked source and their objects: attributes, properties, operators, containers.
The branch in line 3 of each `run` breaks under Dynamo of torch 2.13.0 where it reads a tensor."""

import textwrap

import pytest
from programs import analysed, found

# name: (the class, what `t` is); VALUE is a tensor, then a size
CASES = {
    "an attribute": ("class C:\n    def __init__(self, v):\n        self.v = v\n", "C(VALUE).v"),
    "a class attribute": ("class C:\n    v = 1\n", "(C.v, VALUE)[1]"),
    "a property": (
        "class C:\n    def __init__(self, v):\n        self._v = v\n\n    @property\n    def v(self):\n        return self._v\n",
        "C(VALUE).v",
    ),
    "a method": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    def get(self, n):\n        return self.v * n\n",
        "C(VALUE).get(2)",
    ),
    "a static method": (
        "class C:\n    @staticmethod\n    def get(v):\n        return v\n",
        "C.get(VALUE)",
    ),
    "a class method": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    @classmethod\n    def make(cls, v):\n        return cls(v)\n",
        "C.make(VALUE).v",
    ),
    "an inherited method": (
        "class B:\n    def get(self, v):\n        return v\n\n\nclass C(B):\n    def get(self, v):\n        return super().get(v)\n",
        "C().get(VALUE)",
    ),
    "__call__": ("class C:\n    def __call__(self, v):\n        return v\n", "C()(VALUE)"),
    "__getitem__": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    def __getitem__(self, i):\n        return self.v\n",
        "C(VALUE)[0]",
    ),
    "an operator": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    def __add__(self, other):\n        return self.v\n",
        "C(VALUE) + 1",
    ),
    "a reflected operator": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    def __rmul__(self, other):\n        return self.v\n",
        "2 * C(VALUE)",
    ),
    "a sign": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n\n    def __neg__(self):\n        return self.v\n",
        "-C(VALUE)",
    ),
    "a dataclass": (
        "@dataclasses.dataclass\nclass C:\n    v: object\n    n: int = 1\n",
        "C(VALUE).v",
    ),
    "a named tuple": ("class C(NamedTuple):\n    v: object\n    n: int = 1\n", "C(VALUE)[0]"),
    "_make": ("class C(NamedTuple):\n    v: object\n    n: int = 1\n", "C._make([VALUE, 1]).v"),
    "setattr": (
        "class C:\n    def __init__(self, v):\n        setattr(self, 'v', v)\n",
        "C(VALUE).v",
    ),
    "setattr of computed names": (
        "class C:\n    def __init__(self, **named):\n        for name, value in named.items():\n            setattr(self, name, value)\n",
        "C(v=VALUE).v",
    ),
    "a partial constructor": (
        "import functools\n\n\nclass C:\n    def __init__(self, n, v):\n        self.v = v\n",
        "functools.partial(C, 1)(VALUE).v",
    ),
    "a generic class": (
        "import typing\n\nT = typing.TypeVar('T')\n\n\nclass C(typing.Generic[T]):\n    def __init__(self, v):\n        self.v = v\n\n\nB = C[int]\n",
        "B(VALUE).v",
    ),
    "a tuple's class": ("class C(tuple):\n    pass\n", "C([1, VALUE])[1]"),
    "a function made a method": (
        "import types\n\n\nclass C:\n    pass\n\n\ndef get(self, v):\n    return v\n",
        "types.MethodType(get, C())(VALUE)",
    ),
    "another field": (
        "class C(NamedTuple):\n    v: object\n    n: int = 1\n",
        "(C(1).v, VALUE)[1]",
    ),
}
OPERATORS = {"BRK537", "BRK538", "BRK539"}


@pytest.mark.parametrize("name", CASES)
def test_an_object(name, tmp_path):
    source, value = CASES[name]
    codes = {}
    for given in ("x.sum()", "x.shape[0]"):
        program = (
            f"import dataclasses\nfrom typing import NamedTuple\n\nimport torch\n\n\n{source}\n\n"
            f"def run(x):\n    t = {value.replace('VALUE', given)}\n    if t > 0:\n        x = x + 1\n    return x\n\n\n"
            "def make():\n    return run, (torch.ones(4),), {}\n"
        )
        result = analysed(tmp_path, {"program.py": program}, "program.py::make")
        codes[given] = {code for code, _ in found(result)}
    assert "BRK101" in codes["x.sum()"] and "BRK101" not in codes["x.shape[0]"]


TRUTHS = {
    "an object is true": ("class C:\n    pass\n", "C()", True),
    "__bool__": ("class C:\n    def __bool__(self):\n        return False\n", "C()", False),
    "__len__": ("class C:\n    def __len__(self):\n        return 0\n", "len(C())", False),
    "its class": ("class C:\n    pass\n", "isinstance(C(), C) and type(C()) is C", True),
    "a class that it is not of": (
        "class B:\n    pass\n\n\nclass C:\n    pass\n",
        "isinstance(C(), B)",
        False,
    ),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_the_truth_of_an_object(name, tmp_path):
    source, test, truth = TRUTHS[name]
    program = (
        f"import torch\n\n\n{source}\n\ndef run(x):\n    if {test}:\n        return x * x.sum().item()\n"
        "    return x * float(x.sum())\n\n\ndef make():\n    return run, (torch.ones(4),), {}\n"
    )
    result = analysed(tmp_path, {"program.py": textwrap.dedent(program)}, "program.py::make")
    codes = {code for code, _ in found(result)} & {"BRK201", "BRK202"}
    assert codes == {"BRK201" if truth else "BRK202"}


CHOSEN_BY_OTHERS = """\
import torch


class Towers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = None
        self.kind = "plain"

    def forward(self, x):
        if self.kind == "other":
            return x.max().item()
        if self.mode is not None:
            return x.min().item()
        if self.mode == "user":
            return x.sum().item()
        return x
"""


def test_an_attribute_that_is_none_and_compared_is_set_by_others(tmp_path):
    result = analysed(tmp_path, {"program.py": CHOSEN_BY_OTHERS})
    assert [(f.line, f.condition) for f in result.findings] == [(16, 'self.mode == "user"')]


APPLIED = """\
import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = {kept}

    def forward(self, x: torch.Tensor):
        y = x + 1
        return {applied}
"""


@pytest.mark.parametrize(
    ("kept", "applied", "breaks"),
    [
        ("Scaled()", "self.scaled.apply(y)", True),
        ("Scaled", "self.scaled.apply(y)", False),
        ("Scaled().apply", "self.scaled(y)", False),
        ("None", "Scaled().apply(y)", False),
    ],
)
def test_apply_of_an_object_of_an_autograd_function(kept, applied, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": APPLIED.format(kept=kept, applied=applied)})
    assert found(result) == ([("BRK617", 17)] if breaks else [])


STORED = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.last = None

    def forward(self, x: torch.Tensor):
        if self.last is None:
            {store}
        return x * self.steps
"""


@pytest.mark.parametrize(
    ("store", "code"),
    [
        ("setattr(self, 'steps', self.steps + 1)", "BRK701"),
        ("setattr(self, 'last', x * 2)", "BRK707"),
        ("setattr(self, 'steps', 0)", ""),
        ("setattr(*('', 'steps', 0))", ""),
    ],
)
def test_setattr_is_a_store(store, code, tmp_path):
    result = analysed(tmp_path, {"program.py": STORED.format(store=store)})
    assert found(result) == ([(code, 12)] if code else [])


ANNOUNCED = """\
import torch


class Picker:
    kinds = {{}}

    def __init_subclass__(cls, name=None, **rest):
        super().__init_subclass__(**rest)
        {effect}


class Positive(Picker, name="positive"):
    sorted = False

    def __call__(self, x):
        return x.unique() if self.sorted else x[x > 0]


class Model(torch.nn.Module):
    def __init__(self, kind="positive"):
        super().__init__()
        self.pick = {made}

    def forward(self, x: torch.Tensor):
        return self.pick(x)
"""


@pytest.mark.parametrize(
    ("effect", "made", "code"),
    [
        ("Picker.kinds[name] = cls", "Picker.kinds[kind]()", "BRK302"),
        ("cls.kinds[cls.__name__] = cls", "Picker.kinds['Positive']()", "BRK302"),
        ("cls.sorted = True", "Positive()", "BRK305"),
        ("cls.sorted = name == 'all'", "Positive()", "BRK302"),
    ],
)
def test_a_subclass_is_announced_to_its_parent(effect, made, code, tmp_path):
    source = ANNOUNCED.format(effect=effect, made=made)
    assert found(analysed(tmp_path, {"program.py": source})) == [(code, 16)]


@pytest.mark.parametrize(
    ("base", "breaks"),
    [
        ("float", True),
        ("collections.deque", True),
        ("functools.partial", True),
        ("int", False),
        ("dict", False),
        ("collections.OrderedDict", False),
        ("Exception", False),
    ],
)
def test_a_class_over_one_that_is_written_in_c(base, breaks, tmp_path):
    text = f"""\
        import collections, functools, torch

        class Made({base}):
            pass

        @torch.compile
        def run(x, n):
            made = Made(*n)
            return x + 1
        """
    result = found(analysed(tmp_path, {"run.py": textwrap.dedent(text)}))
    assert result == ([("BRK521", 8)] if breaks else [])


@pytest.mark.parametrize(
    ("base", "made", "effect"),
    [
        ("", "loud=LOUD", "self.__dict__ = fields"),
        ("", "loud=LOUD", "self.__dict__.update(fields)"),
        ("dict", "loud=LOUD", "super().__init__(**fields)\n        self.__dict__ = self"),
    ],
)
@pytest.mark.parametrize("loud", [True, False])
def test_a_dict_of_attributes(base, made, effect, loud, tmp_path):
    text = f"""\
import torch


class Config({base}):
    def __init__(self, **fields):
        {effect}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config({made.replace("LOUD", str(loud))})

    def forward(self, x: torch.Tensor):
        if self.config.loud:
            print("loud")
        return x + 1
"""
    result = analysed(tmp_path, {"net.py": text})
    line = text.splitlines().index('            print("loud")') + 1
    assert found(result) == ([("BRK401", line)] if loud else [])
    assert not any(finding.condition for finding in result.findings)


OF_A_GRAPH = """\
import networkx
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("first", torch.nn.Linear(3, 3))


class Dag({bases}):
    def {own}(self, name):
        return 2

    def forward(self, x: torch.Tensor):
        return x * {read}
"""


@pytest.mark.parametrize(
    ("bases", "own", "read", "breaks"),
    [
        ("networkx.DiGraph, Net", "other", "len(self['a'])", ["BRK548"]),
        ("networkx.DiGraph, Net", "other", "self.number_of_nodes()", ["BRK548"]),
        ("networkx.DiGraph, Net", "__getitem__", "self['a']", []),
        ("networkx.DiGraph, Net", "number_of_nodes", "self.number_of_nodes('a')", []),
        ("Net", "other", "self.number_of_nodes()", []),
    ],
)
def test_what_a_class_has_of_a_package_that_dynamo_skips(bases, own, read, breaks, tmp_path):
    text = OF_A_GRAPH.format(bases=bases, own=own, read=read)
    assert [code for code, _ in found(analysed(tmp_path, {"net.py": text}))] == breaks
