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


MIXED = """\
import torch
from torch import nn


class Norm(nn.Module):
    def forward(self, x):
        return x * 2


class Stack(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(n):
            self.layers.append(nn.{layer}(4, 4))
            self.layers.append(Norm())

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            if isinstance(layer, Norm):
                x = layer(x)
            else:
                x = layer(x + 1){item}
        return x
"""


@pytest.mark.parametrize(("layer", "item", "lines"), [("LSTM", "[0]", [20]), ("Linear", "", [])])
def test_a_question_for_another_kind_reads_the_layer_too(layer, item, lines, tmp_path):
    source = MIXED.format(layer=layer, item=item)
    found_lines = [line for code, line in found(analysed(tmp_path, {"model.py": source}))]
    assert found_lines == lines


ONE_OF = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        {made}

    def forward(self, x: torch.Tensor):
        return self.rnn(x){item}
"""
TABLE = "self.rnn = {{'a': nn.{}, 'b': nn.{}}}[kind](3, 3)"


@pytest.mark.parametrize(
    ("made", "item", "lines"),
    [
        (TABLE.format("LSTM", "GRU"), "[0]", [11]),
        (TABLE.format("Linear", "Identity"), "", []),
        ("self.rnn = nn.LSTM(3, 3) if kind == 'a' else nn.RNN(3, 3)", "[0]", [11]),
    ],
)
def test_one_of_several_recurrent_layers(made, item, lines, tmp_path):
    source = ONE_OF.format(made=made.replace("{{", "{").replace("}}", "}"), item=item)
    result = analysed(tmp_path, {"model.py": source})
    assert [line for _, line in found(result)] == lines


KEPT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []
        self.first = nn.Linear(4, 4)
        self.rnn = nn.{layer}(4, 4)
        self.kept.append(self.rnn)

    def forward(self, x: torch.Tensor):
        {body}
        return self.first(x)
"""


@pytest.mark.parametrize(
    ("layer", "body", "breaks"),
    [
        ("GRU", "[m.flatten_parameters() for m in self.kept]", True),
        ("GRU", "for m in self.kept: m.flatten_parameters()", True),
        ("Linear", "for m in self.kept: m.requires_grad_()", False),
        ("GRU", "self.train()", True),
        ("GRU", "self.eval()", True),
        ("GRU", "self.first.eval()", False),
        ("Linear", "self.eval()", False),
    ],
)
def test_what_goes_over_the_modules_reads_a_recurrent_one(layer, body, breaks, tmp_path):
    source = KEPT.format(layer=layer, body=body)
    lines = [
        line for code, line in found(analysed(tmp_path, {"net.py": source})) if code == "BRK503"
    ]
    assert lines == ([14] if breaks else [])
