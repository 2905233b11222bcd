"""Subclasses of torch.Tensor that are made inside a region. The ids are those that Dynamo of torch
2.13.0 gives at the marked line; no id, no break."""

import pytest
from programs import analysed, found

CLASSES = """\
import dataclasses

import torch


@dataclasses.dataclass
class Kind:
    name: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    name: str


class Plain(torch.Tensor):
    pass


class Tagged(torch.Tensor):
    @staticmethod
    def __new__(cls, data, tag=None):
        return torch.Tensor._make_subclass(cls, data)

    def __init__(self, data, tag=None):
        self.tag = tag


class Lenient(torch.Tensor):
    def __new__(cls, data, **kwargs):
        return data.as_subclass(cls)

    def __init__(self, data=None, **kwargs):
        pass


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, data, kind):
        return torch.Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype)

    def __init__(self, data, kind):
        self.data_ = data
        self.kind = kind


class Flattened(Wrapper):
    def __tensor_flatten__(self):
        return ["data_"], {"kind": self.kind}


KIND, FROZEN = Kind("a"), Frozen("a")


def region(x):
    return MADE + 1


def make():
    return region, (torch.ones(3),), {}
"""
LINE = CLASSES.splitlines().index("    return MADE + 1") + 1
INSIDE = next(n for n, line in enumerate(CLASSES.splitlines(), 1) if "_make_wrapper" in line)


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("Plain(x)", []),
        ("Plain(2, 3)", [LINE]),  # GB0026
        ("Plain([1.0, 2.0, 3.0])", [LINE]),  # GB0026
        ("Tagged(x)", [LINE]),  # GB7312
        ("Tagged(x, tag='a')", [LINE]),  # GB7312
        ("Tagged(data=x, tag='a')", []),
        ("Lenient(x)", []),
        ("Wrapper(data=x, kind=1)", [INSIDE]),  # GB0007
        ("Flattened(x, 'a')", []),
        ("Flattened(x, FROZEN)", []),
        ("Flattened(x, KIND)", [INSIDE, LINE]),  # GB0055, and GB0007 where Python makes it
    ],
)
def test_a_tensor_subclass_is_made(made, lines, tmp_path):
    source = CLASSES.replace("MADE", made)
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert sorted(line for code, line in found(result) if code == "BRK561") == lines


@pytest.mark.parametrize("index", ["x.argmin()", "x.as_subclass(Plain).argmin()"])
def test_a_number_of_a_subclass_is_an_index(index, tmp_path):
    source = CLASSES.replace("return MADE + 1", f"return x[{index}]")
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert found(result) == [("BRK213", LINE)]


PARAMETERS = """\
import torch
from torch import nn


class Bare(nn.Parameter):
    pass


class Above(nn.Parameter):
    def __new__(cls, data, wanted=True):
        return super().__new__(cls, data, wanted)


class Below(nn.Parameter):
    def __new__(cls, data, extra, requires_grad=True):
        made = torch.Tensor._make_subclass(cls, data, requires_grad)
        made.extra = extra
        return made


@torch.compile
def f(x):
    return {made} * 2
"""


@pytest.mark.parametrize(
    ("made", "lines"),
    (
        ("Bare(x + 1)", [23]),
        ("Bare(x + 1, True)", [23]),
        ("Above(x + 1)", [11]),
        ("Below(x + 1, 'a')", [16]),
        ("Bare(x + 1, requires_grad=False)", []),
        ("Bare(data=x + 1, requires_grad=False)", []),
        ("Above(x + 1, False)", []),
        ("Below(x + 1, 'a', False)", []),
    ),
)
def test_a_parameter_of_an_own_class_is_made(made, lines, tmp_path):
    result = analysed(tmp_path, {"program.py": PARAMETERS.format(made=made)})
    assert found(result) == [("BRK605", line) for line in lines]
