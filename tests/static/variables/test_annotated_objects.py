"""Arguments of which no more is known than the class that they are annotated with. Dynamo of torch 2.13.0
breaks at the first line of each body when it is given an object whose methods were called, or does not where no code is given."""

import pytest
from programs import analysed, found

CLASS = """\
import torch
from torch import nn

class Labels:
    def __init__(self, of: torch.Tensor, names):
        self.of = of
        self.names = names
        self.last = None
        self.mixed = 0

    def count(self, of: torch.Tensor):
        self.last = of.sum()
        self.mixed = of.sum()

class Head(nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.layer = nn.Linear(2, classes)
        self.register_buffer("scale", torch.ones(()))

    def most(self, x):
        return self.scale * self.layer(x).sum()

class M(nn.Module):
    def forward(self, x: torch.Tensor, labels: Labels, head: Head):
{}
"""
CASES = {
    "a tensor that the constructor keeps": (
        "if labels.of.sum() > 1:\n    return x\nreturn -x",
        "BRK101",
    ),
    "a number of one": ("return x * labels.of.sum().item()", "BRK201"),
    "a tensor that a method keeps": ("return x.new_zeros(int(labels.last + 1))", "BRK202"),
    "what is no tensor": ("if labels.names:\n    return x\nreturn -x", ""),
    "a number or a tensor": ("if labels.mixed:\n    return x\nreturn -x", ""),
    "a buffer of a module": ("return x * (head.scale + 1).item()", "BRK201"),
    "a method of a module": ("return x if head.most(x) > 1 else -x", "BRK101"),
    "a parameter of its layer": ("return x[head.layer.weight[0] > 0]", "BRK302"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_known_of_an_annotated_object(name, tmp_path):
    body, code = CASES[name]
    lines = "\n".join(f"        {text}" for text in body.split("\n"))
    source = CLASS.format(lines)
    def_line = source.count("\n", 0, source.index("def forward")) + 1
    assert found(analysed(tmp_path, {"model.py": source})) == (
        [(code, def_line + 1)] if code else []
    )


@pytest.mark.parametrize(
    "annotation, breaks",
    [("torch.Generator", True), ("torch.Generator | None = None", False), ("int", False)],
)
def test_a_generator_that_is_always_given(annotation, breaks, tmp_path):
    source = f"""\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, generator: {annotation}):
        return x + torch.randn((2,), generator=generator)
"""
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK507", 6)] * breaks
