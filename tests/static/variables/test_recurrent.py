"""Classes that derive from a recurrent layer: Dynamo of torch 2.13.0 gives a function up where it first reads
such an object, be it by a method, and so the region itself too."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Mixed:
    def weights(self):
        return self.weight_ih_l0 * 2


class Layer(Mixed, torch.nn.{base}):
    def __init__(self):
        super().__init__(3, 3)

    def forward(self, x: torch.Tensor):
        {body}
"""


@pytest.mark.parametrize(
    ("base", "body", "lines"),
    [
        ("LSTM", "return x * self.weights().sum()", [6, 14]),
        ("GRU", "return x * self.hidden_size", [14]),
        ("LSTM", "return x * 2", []),
        ("LSTMCell", "return x * self.hidden_size", []),
    ],
)
def test_a_layer_that_derives_from_a_recurrent_one(base, body, lines, tmp_path):
    result = analysed(tmp_path, {"model.py": PROGRAM.format(base=base, body=body)})
    assert [line for code, line in found(result) if code == "BRK503"] == lines


CHOSEN = """\
import torch


class A(torch.nn.Linear):
    pass


class B(torch.nn.Linear):
    pass


class C(torch.nn.Linear):
    pass


class Net(torch.nn.Module):
    def __init__(self, kind: str = "{kind}"):
        super().__init__()
        if kind == "LSTM":
            self.layer = torch.nn.{cell}(3, 3)
        elif kind == "linear":
            self.layer = torch.nn.Linear(3, 3)
        elif kind == "bilinear":
            self.layer = torch.nn.LayerNorm(3)
        elif kind == "a":
            self.layer = A(3, 3)
        elif kind == "b":
            self.layer = B(3, 3)
        else:
            self.layer = C(3, 3)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(("cell", "codes"), [("LSTM", ["BRK503"]), ("LSTMCell", [])])
def test_one_of_many_layers(cell, codes, tmp_path):
    result = analysed(tmp_path, {"model.py": CHOSEN.format(kind="LSTM", cell=cell)})
    assert [code for code, _ in found(result)] == codes
