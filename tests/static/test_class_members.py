"""What stands in the body of a class, asked of an object or of the class; and what others set
there."""

import textwrap

import pytest

from breakscope.static import analyze

MODEL = """import abc

import torch
from torch import nn


class Front(nn.Module, abc.ABC):
    width: int

    @property
    @abc.abstractmethod
    def size(self): ...


class Sampling(nn.Module):
    stride = 2

    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, stride=self.stride)

    @staticmethod
    def once(n):
        return (n - 1) // 2

    @classmethod
    def sizes(cls, n):
        return cls.once(n) // cls.stride + cls.once(n)

    def forward(self, x):
        return self.conv(x)


class Finer(Sampling):
    @staticmethod
    def once(n):
        return n + 1


class Pair(nn.Module):
    def forward(self, x, other):
        return x + other


class Model(nn.Module):
    def __init__(self, fronts: dict[str, Front], width):
        super().__init__()
        self.fronts = nn.ModuleDict(fronts)
        self.offsets = nn.ParameterDict({name: nn.Parameter(torch.zeros(width)) for name in fronts})
        self.sampling, self.finer = Sampling(width), Finer(width)
        self.inner = Sampling.sizes(width)
        self.read = nn.ModuleDict(dict(rows=nn.Linear(width, width), all=nn.Sequential(nn.ReLU())))
        self.read.add_module("more", nn.Tanh())
        self.parts = nn.ModuleDict({"pair": Pair(), "one": nn.Linear(width, width)})
        self.known = {"sizes": (1, 2), "offset": torch.zeros(width)}

    def forward(self, parts, n):
        found = [front(parts) + self.offsets[name] for name, front in self.fronts.items()]
        x = self.finer(self.sampling(sum(found))) * self.inner
        if self.known["sizes"][1] > 1:
            x = self.parts["pair"](x, self.parts.one(x)) + self.known["offset"]
        x = self.read.rows(x) + self.read["all"](x) + self.read["more"](x)
        mask = torch.arange(8) < Sampling.sizes(n)[:, None]
        return x * mask + self.finer.sizes(n) + Finer.once(n)
"""
READING = """def reading(function):
    def wrapper(self, *args):
        return function(self, *args) if args[0].sum() > 0 else args[0]
    return wrapper


"""
SETTING = """def setting(function):
    def wrapper(self, *args):
        function(self, *args)
        self.stride = torch.ones(1)
    return wrapper


"""
# name -> the codes that are found, then what stands there and what is written instead
CHANGES = {
    "a decorated forward": (
        ["BRK101"],
        "class Front",
        READING + "class Front",
        "    def forward(self, x):\n        return self.conv(x)",
        "    @reading\n    def forward(self, x):\n        return self.conv(x)",
    ),
    "a decorated forward of a layer": (
        ["BRK101"],
        "class Front",
        READING + "class Front",
        "    def forward(self, x, other):",
        "    @reading\n    def forward(self, x, other):",
    ),
    "a decorated constructor": (
        ["BRK101"],
        "class Front",
        SETTING + "class Front",
        "    def __init__(self, width):\n",
        "    @setting\n    def __init__(self, width):\n",
        "return self.conv(x)",
        "return self.conv(x) if self.stride > 0 else x",
    ),
    "a break in a static method": (["BRK201"], "return (n - 1) // 2", "return n.sum().item()"),
    "a break in a class method": (
        ["BRK201"],
        "return cls.once(n) //",
        "return n.sum().item() + cls.once(n) //",
    ),
    "a break in the static method of a class that derives": (
        ["BRK101"],
        "return n + 1",
        "return n + 1 if n.sum() > 0 else n",
    ),
    "a class attribute that is a tensor": (
        ["BRK101"],
        "return (n - 1) // 2",
        "return n if Sampling.stride > 0 else -n",
        "self.inner = ",
        "Sampling.stride = torch.ones(1)\n        self.inner = ",
    ),
    "one that a class method sets": (
        ["BRK101"],
        "return self.conv(x)",
        "return self.conv(x) if self.stride > 0 else x",
        "@classmethod\n",
        "@classmethod\n    def set(cls):\n        cls.stride = torch.ones(1)\n\n    @classmethod\n",
        "self.inner = ",
        "self.sampling.set()\n        self.inner = ",
    ),
    "one that is set on all modules": (
        ["BRK101"],
        "return self.conv(x)",
        "return self.conv(x) if self.stride > 0 else x",
        "self.inner = ",
        "for part in self.modules():\n            part.stride = torch.ones(1)\n        self.inner = ",
    ),
    "one that is set at the end": (
        ["BRK101"],
        "return (n - 1) // 2",
        "return n if Sampling.stride > 0 else -n",
        "return x * mask + self.finer.sizes(n) + Finer.once(n)\n",
        "return x * Sampling.once(n)\n\n\nSampling.stride = torch.ones(1)\n",
    ),
    "a parameter that is asked": (
        ["BRK101"],
        "+ self.offsets[name] for",
        "+ (1 if self.offsets[name] > 0 else 2) for",
    ),
    "a recurrent layer added": (["BRK503"], "nn.Tanh()", "nn.LSTM(width, width)"),
    "one put under a key": (
        ["BRK503"],
        "self.known = {",
        "self.parts['one'] = nn.LSTM(width, width)\n        self.known = {",
    ),
    "one that an update puts there": (
        ["BRK503"],
        "self.known = {",
        "self.parts.update({'one': nn.LSTM(width, width)})\n        self.known = {",
    ),
    "one in the dict": (["BRK503"], '"one": nn.Linear(', '"one": nn.LSTM('),
    "a tensor under another key": (["BRK101"], 'self.known["sizes"]', 'self.known["offset"]'),
    "what a layer without a forward gets": (
        ["BRK113", "BRK201"],
        "front(parts) +",
        "front(parts.sum().item()) +",
    ),
}


def found(path, text: str) -> list[str]:
    path.write_text(text)
    return sorted({finding.code for finding in analyze([path]).findings})


def test_members_of_classes_are_followed(tmp_path):
    assert found(tmp_path / "model.py", MODEL) == []


@pytest.mark.parametrize("name", CHANGES)
def test_what_breaks_in_them_is_found(tmp_path, name):
    codes, *changes = CHANGES[name]
    text = MODEL
    for old, new in zip(changes[::2], changes[1::2]):
        assert old in text
        text = text.replace(old, new)
    assert found(tmp_path / "model.py", text) == codes


@pytest.mark.parametrize(
    ("bases", "is_called_by_torch"),
    [
        ("nn.Module, Steps", True),
        ("Base, Steps", True),
        ("Steps, nn.Module", False),
        ("Steps, Base", False),
        ("Base, OfBoth", False),
    ],
)
def test_a_parent_behind_torchs_module_does_not_call_it(bases, is_called_by_torch, tmp_path):
    text = f"""\
        from torch import nn

        class Steps:
            def __call__(self, x):
                return x

        class Base(nn.Module):
            pass

        class OfBoth(Steps, Base):
            pass

        class Net({bases}):
            def forward(self, x):
                return x.item()
        """
    text = text.replace("class Net(Base, OfBoth)", "class Net(OfBoth)")
    codes = found(tmp_path / "model.py", textwrap.dedent(text))
    assert codes == (["BRK201"] if is_called_by_torch else [])
