"""What stands in the body of a class, asked of an object or of the class; and what others set there."""

import pytest

from breakscope.glance import is_clean
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
CHANGES = {
    "a decorated forward": ("class Front", READING + "class Front", "    def forward(self, x):\n        return self.conv(x)",
                            "    @reading\n    def forward(self, x):\n        return self.conv(x)"),
    "a decorated forward of a layer": ("class Front", READING + "class Front", "    def forward(self, x, other):",
                                       "    @reading\n    def forward(self, x, other):"),
    "a decorated constructor": ("class Front", SETTING + "class Front", "    def __init__(self, width):\n", "    @setting\n    def __init__(self, width):\n",
                                "return self.conv(x)", "return self.conv(x) if self.stride > 0 else x"),
    "a break in a static method": ("return (n - 1) // 2", "return n.sum().item()"),
    "a break in a class method": ("return cls.once(n) //", "return n.sum().item() + cls.once(n) //"),
    "a break in the static method of a class that derives": ("return n + 1", "return n + 1 if n.sum() > 0 else n"),
    "a class attribute that is a tensor": ("return (n - 1) // 2", "return n if Sampling.stride > 0 else -n",
                                           "self.inner = ", "Sampling.stride = torch.ones(1)\n        self.inner = "),
    "one that a class method sets": ("return self.conv(x)", "return self.conv(x) if self.stride > 0 else x",
                                     "@classmethod\n", "@classmethod\n    def set(cls):\n        cls.stride = torch.ones(1)\n\n    @classmethod\n",
                                     "self.inner = ", "self.sampling.set()\n        self.inner = "),
    "one that is set on all modules": ("return self.conv(x)", "return self.conv(x) if self.stride > 0 else x",
                                       "self.inner = ", "for part in self.modules():\n            part.stride = torch.ones(1)\n        self.inner = "),
    "one that is set at the end": ("return (n - 1) // 2", "return n if Sampling.stride > 0 else -n",
                                   "return x * mask + self.finer.sizes(n) + Finer.once(n)\n",
                                   "return x * Sampling.once(n)\n\n\nSampling.stride = torch.ones(1)\n"),
    "a parameter that is asked": ("+ self.offsets[name] for", "+ (1 if self.offsets[name] > 0 else 2) for"),
    "a recurrent layer added": ("nn.Tanh()", "nn.LSTM(width, width)"),
    "one put under a key": ("self.known = {", "self.parts['one'] = nn.LSTM(width, width)\n        self.known = {"),
    "one that an update puts there": ("self.known = {", "self.parts.update({'one': nn.LSTM(width, width)})\n        self.known = {"),
    "one in the dict": ('"one": nn.Linear(', '"one": nn.LSTM('),
    "a tensor under another key": ('self.known["sizes"]', 'self.known["offset"]'),
    "what a layer without a forward gets": ("front(parts) +", "front(parts.sum().item()) +"),
}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "model.py"


def test_members_of_classes_are_followed(path):
    path.write_text(MODEL)
    assert is_clean((str(path),))
    assert not analyze([path]).findings


@pytest.mark.parametrize("name", CHANGES)
def test_what_breaks_in_them_is_not_cleared(path, name):
    text = MODEL
    for old, new in zip(CHANGES[name][::2], CHANGES[name][1::2]):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    assert not is_clean((str(path),))
    assert analyze([path]).findings
