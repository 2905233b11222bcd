"""A program whose model stands in another file: what its calls differ in, and how it makes the model, counts as in
one file. What is marked breaks or is compiled again under Dynamo of torch 2.13, and nothing else."""

import pytest
from programs import TORCH, found, write

from breakscope.static import StaticOptions, analyze

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, verbose=False):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.verbose = verbose

    def forward(self, x, scale=1.0):
        y = self.layer(x)
        if self.verbose and x.shape[0] > 2:
            print(y.shape)
        if y.shape[0] > 6:
            y = y + 1
        return y * scale
"""
HEAD = """\
import torch
from model import Net

"""
SIZES = """\
model = torch.compile(Net())
for n in range(4, 9):
    model(torch.ones(n, 3))
"""
NUMBERS = """\
model = torch.compile(Net())
for n in range(4):
    model(torch.ones(4, 3), scale=0.1 * n)
"""
LOUD = """\
model = torch.compile(Net(verbose=True))
model(torch.ones(4, 3))
"""
QUIET = LOUD.replace("verbose=True", "verbose=False")
EAGER = SIZES.replace("torch.compile(Net())", "Net()")
WANTED = {
    "sizes": (SIZES, [("BRK713", 12)]),
    "numbers": (NUMBERS, [("BRK709", 17)]),
    "a flag that it sets": (LOUD, [("BRK401", 14)]),
    "a flag that it does not set": (QUIET, []),
    "nothing compiled": (EAGER, []),
}


@pytest.mark.parametrize("what", WANTED)
def test_what_a_program_does_with_the_model_of_another_file(what, tmp_path):
    program, wanted = WANTED[what]
    write(tmp_path, {"run.py": HEAD + program, "model.py": MODEL})
    result = analyze([str(tmp_path / "run.py")], StaticOptions(torch=TORCH))
    assert found(result) == wanted
    assert {finding.path for finding in result.findings} <= {str(tmp_path / "model.py")}


@pytest.mark.parametrize("what", WANTED)
def test_the_same_in_one_file(what, tmp_path):
    program, wanted = WANTED[what]
    write(tmp_path, {"run.py": f"{MODEL}\n\n{program}"})
    assert found(analyze([str(tmp_path / "run.py")], StaticOptions(torch=TORCH))) == wanted


def test_a_condition_names_what_is_not_known(tmp_path):
    write(tmp_path, {"run.py": HEAD + LOUD, "model.py": MODEL})
    (finding,) = analyze([str(tmp_path / "run.py")], StaticOptions(torch=TORCH)).findings
    assert finding.condition == "x.shape[0] > 2"
