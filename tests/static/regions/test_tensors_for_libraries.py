"""What a model hands to a layer of an installed package, which takes other kinds of tensors as well: a plain tensor."""

import pytest
from programs import TORCH, found, write

from breakscope.static import StaticOptions, analyze

KINDS = """\
from typing import Optional, Union

import torch
from torch import Tensor

try:
    from sparse_package import SparseTensor
except ImportError:

    class SparseTensor:
        def size(self, dim):
            raise ImportError


class EdgeTensor(Tensor):
    pass


Adj = Union[Tensor, SparseTensor]


def is_sparse(x):
    if isinstance(x, Tensor):
        if x.layout == torch.sparse_coo:
            return True
        if x.layout == torch.sparse_csr:
            return True
    return False
"""
LAYERS = """\
from typing import Optional

import torch
from torch import Tensor, nn

from graphlib.kinds import Adj, EdgeTensor, SparseTensor, is_sparse


def without_loops(index):
    if is_sparse(index):
        return index
    if isinstance(index, EdgeTensor):
        index = index.as_subclass(Tensor)
    return index[:, index[0] != index[1]]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor, index: Adj) -> Tensor:
        if isinstance(index, SparseTensor):
            raise ValueError
        if isinstance(x, Tensor):
            assert x.dim() == 2
        if isinstance(index, Tensor):
            index = without_loops(index)
        return x * index.size(1)


class Biased(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(4))
        self.call = eval("lambda x: x * 2")

    def forward(self, x: Tensor) -> Tensor:
        return self.call(x) + self.bias


def mean(x: Tensor, batch: Optional[Tensor]) -> Tensor:
    if batch is None:
        return x.mean(0)
    n = int(batch.max()) + 1 if batch.numel() > 0 else 0
    return x / n


def counted(x: Tensor, batch: Tensor) -> Tensor:
    if batch.numel() == 0:
        return x
    return x * batch.max().item()


def of_rows(x, rows=None):
    if isinstance(rows, Tensor):
        return x * rows.max().item()
    return x
"""
HEAD = """\
import torch
from graphlib.layers import Biased, Layer, counted, mean, of_rows


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.biased = Layer(), Biased()

"""


def analysed_with_library(folder, monkeypatch, forward):
    files = {
        "site-packages/graphlib-1.0.dist-info/METADATA": "Name: graphlib\n",
        "site-packages/graphlib/__init__.py": "",
        "site-packages/graphlib/kinds.py": KINDS,
        "site-packages/graphlib/layers.py": LAYERS,
    }
    write(folder, files)
    (folder / "net.py").write_text(HEAD + forward)
    monkeypatch.setenv("PYTHONPATH", str(folder / "site-packages"))
    return analyze([folder / "net.py"], StaticOptions(torch=TORCH))


@pytest.mark.parametrize(
    ("parameters", "returned", "code"),
    (
        ("x, index", "self.layer(x, index)", "BRK302"),
        ("data", "self.layer(data.x, data.index)", "BRK302"),
        ("x, index: torch.Tensor", "self.layer(x, index)", "BRK302"),
        # a bias says nothing of how many dimensions that has which it is added to
        ("x, index", "self.layer(self.biased(x), index)", "BRK302"),
        ("data", "mean(data.x, data.batch)", "BRK202"),
        ("data", "counted(data.x, data.batch)", "BRK201"),
    ),
)
def test_it_is_a_plain_tensor(parameters, returned, code, tmp_path, monkeypatch):
    forward = f"    def forward(self, {parameters}):\n        return {returned}\n"
    assert found(analysed_with_library(tmp_path, monkeypatch, forward)) == [(code, 11)]


@pytest.mark.parametrize(
    ("parameters", "returned"),
    (
        ("data", "mean(data.x, None)"),
        ("x", "of_rows(x)"),
        # nothing says that it is a tensor
        ("data", "of_rows(data.x, data.rows)"),
    ),
)
def test_what_else_is_handed_over(parameters, returned, tmp_path, monkeypatch):
    forward = f"    def forward(self, {parameters}):\n        return {returned}\n"
    assert found(analysed_with_library(tmp_path, monkeypatch, forward)) == []


def test_own_code_asks_what_it_may_be_handed(tmp_path, monkeypatch):
    forward = """\
    def forward(self, x):
        if x.layout == torch.sparse_coo:
            return x * x.max().item()
        return x
"""
    result = analysed_with_library(tmp_path, monkeypatch, forward)
    assert [(f.line, f.condition) for f in result.findings] == [
        (12, "x.layout == torch.sparse_coo")
    ]
