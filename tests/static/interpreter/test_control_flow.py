"""Branches of an installed package: what is known of them at the line that calls it."""

import pytest
from programs import TORCH, write

from breakscope.static import StaticOptions, analyze

LIBRARY = """\
import torch


class Resample(torch.nn.Module):
    def __init__(self, rate, wanted):
        super().__init__()
        self.rate = rate
        self.wanted = wanted

    def forward(self, wave: torch.Tensor):
        if {test}:
            return {given}
        return wave[..., : torch.ceil(torch.as_tensor(wave.shape[-1] / 2)).long()]
"""
NET = """\
import torch
from netlib.ops import Resample


class Net(torch.nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.resample = Resample(rate, 10)

    def forward(self, wave: torch.Tensor):
        return self.resample(wave)
"""


@pytest.mark.parametrize(
    ("test", "given", "is_reported"),
    (
        ("self.rate == self.wanted", "wave", True),  # then there would be no need for the call
        ("self.rate == self.wanted", "wave * 2", False),
        ("self.rate == 10", "wave", False),
        ("self.rate is None", "wave", False),
    ),
)
def test_a_library_that_hands_its_argument_back_where_nothing_is_to_convert(
    test, given, is_reported, tmp_path, monkeypatch
):
    files = {
        "site-packages/netlib-1.0.dist-info/METADATA": "Name: netlib\n",
        "site-packages/netlib/__init__.py": "",
        "site-packages/netlib/ops.py": LIBRARY.format(test=test, given=given),
        "net.py": NET,
    }
    write(tmp_path, files)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "net.py"], StaticOptions(torch=TORCH))
    shown = [f for f in result.findings if f.confidence != "possible"]
    assert [(f.line, f.kind) for f in shown] == [(11, "break")] * is_reported
