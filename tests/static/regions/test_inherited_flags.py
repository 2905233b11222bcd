"""Flags of a forward that a model inherits from an installed package: who calls the model leaves them."""

import pytest
from programs import TORCH, write

from breakscope.static import StaticOptions, analyze

LIBRARY = """\
import torch


class Base(torch.nn.Module):
    def forward(self, x, {flag}):
        x = self.encode(x)
        if {test}:
            return self.loss(x)
        return x
"""
NET = """\
import torch
from netlib.base import Base


class Net(Base):
    def encode(self, x):
        return x * 2

    def loss(self, x):
        return x * x.sum().item()
"""


@pytest.mark.parametrize(
    ("flag", "test", "confidence"),
    (
        ("compute_loss=True", "compute_loss", ["likely"]),
        ("compute_loss: bool = True", "compute_loss", ["likely"]),
        ("only_features=False", "not only_features", ["likely"]),
        ("compute_loss=False", "compute_loss", []),
        ("count=3", "count > 2", ["possible"]),
        ("compute_loss=None", "compute_loss", ["possible"]),
    ),
)
def test_a_flag_keeps_its_default(flag, test, confidence, tmp_path, monkeypatch):
    files = {
        "site-packages/netlib-1.0.dist-info/METADATA": "Name: netlib\n",
        "site-packages/netlib/__init__.py": "",
        "site-packages/netlib/base.py": LIBRARY.format(flag=flag, test=test),
        "net.py": NET,
    }
    write(tmp_path, files)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "net.py"], StaticOptions(torch=TORCH))
    assert [f.confidence for f in result.findings if f.line == 10] == confidence
