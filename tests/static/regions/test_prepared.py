"""Objects that some method prepares before they are called: `forward` runs with what it gives them.
Dynamo of torch 2.13.0 breaks at the marked lines when the method was called, else the call raises."""

import pytest
from programs import analysed

CLASS = """\
import torch
from torch import nn

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.late = None
        self.ready = False
        self.is_exact = False
        self.layer = nn.Linear(2, 2)

    def configure(self, is_exact: bool = False):
        self.is_exact = is_exact

    def set_up(self, part: nn.Module, n: int):
        self.late = torch.arange(n)
        self.ready = True
        self.add_module("part", part)

    def forward(self, x):
        {}

def make():
    return M(), (torch.ones(2),)
"""
BREAKS = {
    "asserted": ("assert self.late is not None", "return x[self.late > 1]"),
    "raised": ("if self.late is None: raise ValueError('set up first')", "return x[self.late > 1]"),
    "read at once": ("", "return x[self.late > 1]"),
    "only when it is there": ("if self.late is not None:", "    x = x[self.late > 1]"),
    "a flag": ("if not self.ready: raise ValueError('set up first')", "return x.tolist()"),
    "a part": (
        "if self._modules.get('part') is None: raise ValueError('set up')",
        "return x.tolist()",
    ),
}
DECIDED = {
    "by a caller": ("if self.is_exact:", "    x = x.tolist()"),
    "by a caller, too": ("if self.ready and self.is_exact:", "    x = x.tolist()"),
}
CLEAN = {
    "what forward itself sets": (
        "if self.late is None: self.set_up(self.layer, 2)",
        "return x + self.late",
    ),
    "a flag that nothing asks for": ("if self.ready: x.tolist()", "return x"),
}


def lines_of(tmp_path, lines, *entries):
    source = CLASS.format("\n        ".join(lines))
    found = analysed(tmp_path, {"m.py": source}, *entries).findings
    found = [f for f in found if f.kind == "break" and f.confidence != "possible"]
    return {f.line: f.condition for f in found}


@pytest.mark.parametrize("lines", BREAKS.values(), ids=BREAKS)
def test_what_a_method_gives_it_is_there(lines, tmp_path):
    assert 22 in lines_of(tmp_path, lines)


@pytest.mark.parametrize("lines", CLEAN.values(), ids=CLEAN)
def test_a_method_that_forward_calls_or_a_flag_that_is_not_needed_is_no_preparation(
    lines, tmp_path
):
    assert all(lines_of(tmp_path, lines).values())


def test_an_object_that_the_program_makes_is_what_it_made(tmp_path):
    lines = ("if self.late is not None:", "    x = x[self.late > 1]")
    assert not lines_of(tmp_path, lines, "m.py::make")


@pytest.mark.parametrize("lines", DECIDED.values(), ids=DECIDED)
def test_a_bool_that_a_method_takes_is_a_condition(lines, tmp_path):
    (condition,) = lines_of(tmp_path, lines).values()
    assert "self.is_exact" in condition
