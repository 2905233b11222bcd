"""Objects of a class that the source derives from torch.Tensor."""

import pytest
from programs import analysed, found

SOURCE = """\
import torch
from torch import Tensor


class Points(Tensor):
    def plain(self):
        return self.as_subclass(Tensor)

    def double(self):
        return self * 2


def region(x: Points):
    {body}


def make():
    return region, (UNKNOWN,), {{}}
"""


def breaks(folder, body: str) -> list[tuple[str, int]]:
    source = SOURCE.format(body=body)
    return found(analysed(folder, {"program.py": source}, "program.py::region"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x.double() + 1", []),
        ("return x.plain()", [("BRK562", 7), ("BRK558", 14)]),
        ("return Tensor.as_subclass(x, Tensor)", [("BRK562", 14)]),
        ("return x.as_subclass(Points).double()", [("BRK567", 14)]),
        ("return torch.ones(4).as_subclass(Points).double()", []),
        ("return (x if isinstance(x, Tensor) else x.nothing()).sum()", []),
        ("return x * 2 if x.sum() > 3 else x", [("BRK101", 14)]),
        ("return x[x > 0] + x[0].double()", [("BRK302", 14)]),
        ("print('x'); return x.plain()", [("BRK562", 7), ("BRK401", 14), ("BRK558", 14)]),
    ],
)
def test_it_has_what_a_tensor_has_and_its_own_methods(tmp_path, body, expected):
    assert sorted(breaks(tmp_path, body), key=lambda place: place[1]) == expected


CHANGED = """\
import torch
import torch.nn.functional as F
from torch import nn


class Points(torch.Tensor):
    @classmethod
    def empty(cls, n) -> "Points":
        return torch.zeros(n, n).as_subclass(cls)


class Angles(Points):
    pass


class Named(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Weight(nn.Parameter):
    pass


def chosen(name):
    if name == "points":
        return Points
    elif name == "angles":
        return Angles
    raise ValueError(name)


def made(n, name="points") -> Points:
    return chosen(name).empty(n)


class Embedding(nn.Embedding):
    def __init__(self, n: int, name="points"):
        super().__init__(n, n)
        self.weight = nn.Parameter(made(n, name))
        self.register_buffer("held", made(n))
        self.name = name

    def forward(self, x: torch.Tensor, p: Points, q: Named, w: Weight):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return super().forward(x).as_subclass(chosen(self.name))", [44]),
        ("return F.embedding(x, self.held).as_subclass(Angles)", [44]),
        ("return F.linear(x.float(), p).as_subclass(Angles)", [44]),
        ("return (x > p).as_subclass(Angles)", [44]),
        ("return (-(2 * p))[0].clone().as_subclass(Points)", [44]),
        ("return torch.as_tensor(p, dtype=None).as_subclass(Angles)", [44]),
        ("return torch.zeros(p.shape).as_subclass(Points)", []),
        ("return (2 * q).as_subclass(Named)", []),
        ("return w.as_subclass(Points) + (2 * w).as_subclass(Points)", []),
        ("y = 2 * p; return y if isinstance(y, Points) else y.as_subclass(Points)", []),
        ("return x if isinstance(2 * p, Points) else x.item()", [44]),
    ],
)
def test_what_is_computed_of_a_subclass_is_of_it(tmp_path, body, lines):
    source = CHANGED.format(body=body)
    answer = analysed(tmp_path, {"program.py": source}, "program.py::Embedding")
    assert [line for _, line in found(answer)] == lines
