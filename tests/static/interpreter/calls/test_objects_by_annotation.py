"""Methods that a class only announces, of an object whose class stands in another file."""

import pytest
from programs import analysed, found

BASE = """\
from abc import ABC, abstractmethod


class Miner(ABC):
    @abstractmethod
    def _pick(self, x):
        raise NotImplementedError

    def pick(self, x):
        return x[self._pick(x)]
"""
IMPLEMENTED = """\
import torch

from base import Miner


class All(Miner):
    def _pick(self, x):
        return torch.nonzero(x)


class Hard(Miner):
    def _pick(self, x):
        return torch.unique(x)
"""
LOSS = """\
import torch

from base import Miner
from miners import All, Hard


class Loss(torch.nn.Module):
    def __init__(self, miner: Miner{default}):
        super().__init__()
        self.miner = miner

    def forward(self, x: torch.Tensor):
        {body}
"""
ASKED = "return self.miner.pick(x) if isinstance(self.miner, Hard) else x"
CASES = [
    (" = All()", "return self.miner.pick(x)", "BRK301"),
    (" = All()", ASKED, "BRK305"),
    ("", ASKED, "BRK305"),
]


@pytest.mark.parametrize(("default", "body", "code"), CASES)
def test_an_object_of_a_class_that_derives_from_the_annotated_one(default, body, code, tmp_path):
    loss = LOSS.format(default=default, body=body)
    files = {"base.py": BASE, "miners.py": IMPLEMENTED, "loss.py": loss}
    codes = {found_code for found_code, _ in found(analysed(tmp_path, files))}
    assert code in codes
    assert codes <= {code, "BRK302"}


def test_a_method_that_a_named_class_has(tmp_path):
    body = "return x[self.miner._pick(x)]"
    files = {
        "base.py": BASE,
        "miners.py": IMPLEMENTED,
        "loss.py": LOSS.format(default="", body=body),
    }
    assert {"BRK301", "BRK305"} <= {code for code, _ in found(analysed(tmp_path, files))}


SPANS = """\
import torch


def opens(spans: {declared}):
    for start, end in spans:
        if start == end:
            return True
    return False


class Net(torch.nn.Module):
    def forward(self, x, spans):
        return x + 1 if opens(spans[0]) else x
"""


@pytest.mark.parametrize(
    ("declared", "codes"),
    [
        ("list[tuple[int, int]]", []),
        ("list[list[float]]", []),
        ("list", ["BRK101"]),
        ("list[torch.Tensor]", ["BRK101"]),
    ],
)
def test_what_an_annotation_says_to_hold_numbers_holds_no_guessed_tensor(declared, codes, tmp_path):
    result = analysed(tmp_path, {"net.py": SPANS.format(declared=declared)})
    assert [code for code, _ in found(result)] == codes
