"""Modules that a constructor is handed, of which only the annotation is known. Each body breaks under Dynamo of
torch 2.13.0 at its first line, or does not break where no code is given."""

import pytest
from programs import analysed, found

PROGRAM = """\
import copy

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, net: {annotation}):
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor):
        {body}
        return x
"""
CASES = {
    "a copy of it": ("net = copy.deepcopy(self.net)", "BRK506"),
    "frozen": ("self.net.requires_grad_(False)", "BRK607"),
    "frozen by its parameters": (
        "for p in self.net.parameters(): p.requires_grad = False",
        "BRK605",
    ),
    "called": ("x = self.net(x)", ""),
    "put in another mode": ("self.net.eval()", ""),
    "its parameters are read": ("x = x.to(next(self.net.parameters()).device)", ""),
    "what it has of its own is configuration": (
        "x = x * self.net.hidden_size + len(self.net.layers)",
        "",
    ),
    "a test of that": ("x = x + 1 if self.net.config.wide else x", ""),
    "what it makes of a tensor is one": ("x = x * self.net(x).mean().item()", "BRK201"),
}


@pytest.mark.parametrize("annotation", ["nn.Module", "torch.nn.Module", '"nn.Module"'])
@pytest.mark.parametrize("name", CASES)
def test_a_module_of_any_class(name, annotation, tmp_path):
    body, code = CASES[name]
    source = PROGRAM.replace("{annotation}", annotation).replace("{body}", body)
    result = analysed(tmp_path, {"program.py": source})
    assert {code for code, _ in found(result)} == {code} - {""}


def test_one_that_may_be_missing(tmp_path):
    body = "net = copy.deepcopy(self.net)"
    source = PROGRAM.replace("{annotation}", "nn.Module | None = None").replace("{body}", body)
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK506", 13)]


def test_compiling_a_part_that_is_given(tmp_path):
    source = PROGRAM.replace("{annotation}", "nn.Module").replace("{body}", "x = self.net(x)")
    source += "\n\nmodel = Model(nn.Linear(2, 2))\nmodel.net.compile()\n"
    assert found(analysed(tmp_path, {"program.py": source})) == []


def test_a_default_says_more_than_the_annotation(tmp_path):
    annotation, body = "nn.Module = nn.Identity()", "self.net.requires_grad_(False)"
    source = PROGRAM.replace("{annotation}", annotation).replace("{body}", body)
    assert found(analysed(tmp_path, {"program.py": source})) == []
